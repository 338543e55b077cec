import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { codedRow } from '#fhir/chart.ts';
import { defineResource, readInteractions, writeInteractions } from '#fhir/resource.ts';
import { resources, tableShapes } from '#fhir/resources/index.ts';
import { codeColumn, patientParameter } from '#fhir/search-columns.ts';
import type { TableShape } from '#record/table-shape.ts';
import { countRecorded, countReferring } from '#storage/statements/administrative/identity.ts';
import { exportResources } from '#storage/statements/export-resources.ts';
import { moveDocumentEntries, moveRows } from '#storage/statements/move-rows.ts';

/** Tables with a column about a patient that a merge leaves to something else. */
const elsewhere: Readonly<Record<string, string>> = {
	patient_identifier: 'a merge writes the identifiers of both patients anew (record/apply/merge)',
	message_log: 'the number that a message named, as it was named',
	identity_doubt: 'a doubt about two patients names both, before a merge and after it',
	imaging_conflict: 'the Patient ID that an image states, as it states it',
	study_edit: 'the patients of the study as they were; an undo follows merges (record/kinds/study-edit)',
	deleted_study: 'whose study it was when it was deleted, as the record of that',
	legal_hold:
		'the patient for whom it was placed; who asks what is held follows merges (storage/statements/administrative/study-retention)',
	mpps_session: 'the Patient ID that a modality reported, as it was reported',
};

/** Every table of the schema with the names of its columns. */
function tablesOfSchema(): Map<string, string[]> {
	const schema = readFileSync(join(import.meta.dirname, 'schema.sql'), 'utf8');
	return new Map(
		[...schema.matchAll(/^create table (\w+) \(\n([\s\S]*?)\n\)/gm)].map(([, table = '', body = '']) => [
			table,
			body.split('\n').flatMap((line) => /^\t([a-z_]+) /.exec(line)?.[1] ?? []),
		]),
	);
}

const shapes: readonly TableShape[] = Object.values(tableShapes);

function movedBy(reason: 'merge' | 'unlink', of: readonly TableShape[] = shapes): Set<string> {
	const texts = [...moveRows(of, reason).map(({ move }) => move.text), moveDocumentEntries[reason].text];
	return new Set(texts.flatMap((text) => /\bupdate (\w+) /.exec(text)?.[1] ?? []));
}

describe('what belongs to a patient', () => {
	const about = [...tablesOfSchema()].filter(([, columns]) => columns.some((name) => /(^|_)patient(_id)?$/.test(name)));

	test('is in more than eight tables of the schema', () => {
		assert.ok(about.length > 8, `${about.length} tables were found`);
	});

	for (const [table, columns] of about) {
		const reason = elsewhere[table];
		if (reason !== undefined) continue;
		test(`moves with a merge and goes back with an unlink: ${table}`, () => {
			assert.ok(movedBy('merge').has(table), 'a merge leaves it with the replaced patient');
			assert.ok(movedBy('unlink').has(table), 'an unlink leaves it with the survivor');
			assert.ok(columns.includes('patient_id'));
		});
	}

	test('tables that something else takes care of are tables of the schema', () => {
		const named = new Set(about.map(([table]) => table));
		assert.deepEqual(
			Object.keys(elsewhere).filter((table) => !named.has(table)),
			[],
		);
	});

	test('each table says under which patient a row was recorded, so that an unlink gives it back', () => {
		const columns = tablesOfSchema();
		for (const { compartment, keptIn } of shapes) {
			if (compartment === 'patient') assert.ok(columns.get(keptIn)?.includes('recorded_patient_id'), keptIn);
		}
	});
});

describe('a resource type that is defined takes part', () => {
	const chart = {
		list: 'tasks',
		title: 'Tasks',
		noun: 'task',
		position: 90,
		sort: '-_lastUpdated',
		row: (resource: JsonObject) => codedRow(resource, 'authoredOn'),
	} as const;
	const task = defineResource({
		type: 'Task',
		interactions: [...readInteractions, ...writeInteractions],
		table: 'task',
		compartment: { patient: 'for', chart },
		columns: [codeColumn('status')],
		search: { patient: patientParameter('For whom it is', '$.for') },
		summary: [],
		mandatory: ['status'],
		example: { status: 'draft', intent: 'order' },
	});
	const all = [...shapes, task.table];
	const siteId = '00000000-0000-7000-8000-000000000000';

	test('in merges and unlinks', () => {
		for (const reason of ['merge', 'unlink'] as const) {
			assert.ok(movedBy(reason, all).has('task'));
			const [statements] = moveRows([task.table], reason);
			assert.match(statements?.keep?.text ?? '', /'Task'.*\nfrom task r /);
		}
	});

	test('in what a person is told before a merge or its undoing', () => {
		for (const { text } of [countReferring(all), countRecorded(all)]) assert.match(text, /select 'Task' as type, .* from task r /);
	});

	test('in an export of patients, as whose it is is known; what belongs to nobody is not', () => {
		const scope = { siteId, sinceMs: undefined, patientsOnly: true, base: 'http://h/fhir' };
		assert.match(exportResources(task.table, scope), /"resourceType":"Task".*\n[\s\S]* and r\.patient_id is not null\)/);
		const { table: location } = defineResource({ ...unowned, type: 'Location', table: 'location' });
		assert.match(exportResources(location, scope), /from location r where .* and false\)/);
		assert.ok(!movedBy('merge', [location]).has('location'));
	});

	test('with a list on the page of a patient, which no other type has', () => {
		const lists = [...Object.values(resources), task].flatMap((definition) => definition.chart ?? []);
		assert.equal(new Set(lists.map(({ list }) => list)).size, lists.length);
		assert.equal(new Set(lists.map(({ position }) => position)).size, lists.length);
		const row = task.chart?.row({ authoredOn: '2026-01-01', status: 'draft', code: { text: 'Fasting' } });
		assert.deepEqual(row, { at: '2026-01-01', code: '', text: 'Fasting', status: 'draft', detail: '' });
	});

	test('with the patient that it names', () => {
		const id = '0190a6e0-0000-7000-8000-000000000001';
		assert.deepEqual(task.table.statedLinks({ for: { reference: `Patient/${id}` } }), { patient_id: id });
		assert.deepEqual(task.example, { resourceType: 'Task', status: 'draft', intent: 'order' });
	});
});

const unowned = {
	interactions: readInteractions,
	compartment: 'none',
	columns: [],
	search: {},
	summary: [],
	mandatory: [],
} as const;
