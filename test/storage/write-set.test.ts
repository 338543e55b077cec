import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tableShapes } from '#fhir/resources/index.ts';
import type { Row } from '#record/apply/rows.ts';
import { WorkingSet } from '#record/apply/working-set.ts';
import { auditTrail } from '#record/holdings/audit-trail.ts';
import { documents } from '#record/holdings/documents.ts';
import { identityDoubts } from '#record/holdings/identity-doubts.ts';
import { imaging } from '#record/holdings/imaging.ts';
import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { procedureSteps } from '#record/holdings/procedure-steps.ts';
import { visits } from '#record/holdings/visits.ts';
import type { NewInstance } from '#record/imaging.ts';
import type { ProcedureStep } from '#record/procedure-step.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { WriteSet } from '#storage/write-set.ts';
import { StatementNotes } from '#test/support/statement-runner.ts';
import { storedInstance } from '#test/support/stored-instance.ts';

const writeSet = new WriteSet(tableShapes, 0);
const at = '2026-02-03T04:05:06.007Z';

async function write(...sites: ((set: WorkingSet) => void)[]): Promise<StatementNotes> {
	const sets = new Map(
		sites.map((change, index) => {
			const set = new WorkingSet();
			change(set);
			return [`s${index + 1}`, set];
		}),
	);
	const notes = new StatementNotes();
	await writeSet.write(notes, sets, 'urn:of the batch', at);
	return notes;
}

function row(resourceType: ResourceType, id: string, further: Partial<Row> = {}): Row {
	const version = { version: 1, text: '{}', meta: null, source: null, lastUpdated: at };
	return { resourceType, id, givenId: null, ...version, links: {}, supersedes: undefined, stored: false, ...further };
}

/** A row as it was read, and the version that a message makes of it. */
function revised(resourceType: ResourceType, id: string, further: Partial<Row> = {}): Row {
	return row(resourceType, id, { version: 2, supersedes: row(resourceType, id, { stored: true }), ...further });
}

function added(number: number, isNew = true): NewInstance {
	return { instance: storedInstance(number, `content ${number}`), patientId: null, studyId: 'i1', isNewStudy: isNew, isNewSeries: isNew };
}

const storedStudy = (set: WorkingSet) => {
	const study = { id: 'i1', studyUid: '1.2', patientId: null, accessionNumber: null, started: null, instanceCount: 1, isStored: true };
	set.of(imaging).addStoredSeries(study, '1.2.1');
	const { digest, bytes, objectKey, callingAe, source } = storedInstance(1, 'first');
	const held = { sopInstanceUid: '1.2.1.1', studyUid: '1.2', digest, bytes, objectKey, callingAe, source, storedAt: '2025' };
	set.of(imaging).addStoredInstance(held);
};

const step = { id: 'm1', sopInstanceUid: '2.1', studyUid: '1.2', status: 'COMPLETED', attributes: '{}', late: false, reports: 1 } as const;

describe('what a batch made of its sites is written', () => {
	for (const [what, change, expected] of [
		['nothing', () => undefined, []],
		['what was only read', (set) => [set.addStored(row('Patient', 'p1', { stored: true })), set.of(visits).of('|V1')], []],
		[
			'new rows of two tables',
			(set) => [row('Patient', 'p1'), row('Procedure', 'x1')].map((one) => set.put(one)),
			['insert_patient', 'insert_procedure'],
		],
		[
			'a new version, behind the one that it replaces',
			(set) => set.put(revised('Patient', 'p1')),
			['keep_patient_versions', 'update_patient'],
		],
		[
			'new and known rows of a table',
			(set) => [row('Patient', 'p1'), revised('Patient', 'p2'), row('Patient', 'p3')].map((one) => set.put(one)),
			['insert_patient', 'keep_patient_versions', 'update_patient'],
		],
		[
			'a resource that two messages of the batch changed: its version between goes to the history alone',
			(set) => set.put(row('Patient', 'p1', { version: 3, supersedes: revised('Patient', 'p1') })),
			['insert_versions', 'keep_patient_versions', 'update_patient'],
		],
		[
			'identifiers, the whole list of each patient',
			(set) => set.of(patientIdentifiers).put('p1', [], [{ value: '100', system: 'a', old: false, rank: 0 }]),
			['delete_identifiers', 'insert_identifiers'],
		],
		['a procedure step', reportStep, ['upsert_procedure_steps', 'insert_step_reports']],
		['instances of a new study', (set) => set.of(imaging).putInstance(added(1)), ['insert_instances', 'upsert_series', 'upsert_studies']],
		[
			'a further instance of a stored study',
			(set) => [storedStudy(set), set.of(imaging).putInstance(added(2, false))],
			['insert_instances', 'grow_series', 'grow_studies'],
		],
		[
			'an instance in place of another',
			(set) => {
				storedStudy(set);
				set.of(imaging).replaceInstance({ added: added(1, false), studyUids: ['1.2'], patientId: null, isLastWord: true });
			},
			[
				...['delete_instances', 'insert_instances', 'grow_series', 'grow_studies'],
				...['recount_series', 'delete_empty_series', 'recount_studies', 'delete_empty_studies'],
				...['restate_series', 'restate_studies', 'restate_contents'],
			],
		],
		[
			'conflicts, new and settled',
			(set) => {
				const { attributes, ...object } = storedInstance(1, 'other');
				const { sopInstanceUid, studyUid } = attributes;
				set.of(imaging).putConflict({ id: 'k1', ...object, sopInstanceUid, studyUid, receivedAt: undefined, settlement: undefined });
				set.of(imaging).settleConflict({ conflictId: 'k0', as: 'stored', by: 'cli:root' });
			},
			['insert_conflicts', 'settle_conflicts'],
		],
		['what a document states, and its bytes', stateDocument, ['upsert_document_entries', 'insert_binaries']],
		[
			'doubts about patients, and those that are mended',
			(set) => {
				doubt(set, 'd1');
				doubt(set, 'd2');
				set
					.of(identityDoubts)
					.settle({ key: null, studyUid: '1.2', patientId: null, otherPatientId: null, unlessAside: null, how: 'assigned', by: 'x', at });
			},
			['insert_identity_doubts', 'settle_identity_doubts'],
		],
		['an event of the audit trail', (set) => audit(set, 'a1'), ['insert_audit_events']],
	] satisfies [string, (set: WorkingSet) => unknown, string[]][]) {
		test(`${what}: ${expected.join(', ') || 'no statement'}`, async () => {
			assert.deepEqual((await write(change)).names(), expected);
		});
	}

	test('by one statement a table, whatever the number of rows and sites', async () => {
		const many = (set: WorkingSet) => {
			for (let number = 1; number <= 3; number++) {
				set.put(row('Patient', `p${number}`));
				set.of(imaging).putInstance(added(number));
				audit(set, `a${number}`);
			}
		};
		const notes = await write(many, many);
		assert.deepEqual(notes.names(), ['insert_patient', 'insert_instances', 'upsert_series', 'upsert_studies', 'insert_audit_events']);
		assert.deepEqual(notes.valuesOf('insert_patient')?.slice(0, 3), ['{s1,s1,s1,s2,s2,s2}', '{p1,p2,p3,p1,p2,p3}', '{1,1,1,1,1,1}']);
	});

	test('merged patients move behind all that is written, table by table, documents and what they state with them', async () => {
		const notes = await write((set) => {
			set.put(row('Patient', 'p1'));
			audit(set, 'a1');
			set.move({ from: { id: 'p1', givenId: null }, to: { id: 'p2', givenId: 'own' }, reason: 'merge' });
		});
		const names = notes.names();
		assert.deepEqual(names.slice(0, 2), ['insert_patient', 'insert_audit_events']);
		const moved = new Map(
			Object.values(tableShapes).flatMap((shape) => (shape.compartment === 'patient' ? [[shape.keptIn, shape] as const] : [])),
		);
		const expected = [...moved.values()].flatMap(({ keptIn, renderedFrom }) => [
			...(renderedFrom === undefined ? [] : [`move_${renderedFrom}_merge`]),
			`keep_${keptIn}_merge`,
			`move_${keptIn}_merge`,
		]);
		assert.deepEqual(names.slice(2), [...expected, 'move_document_entries_merge']);
		assert.deepEqual(notes.valuesOf('move_observation_merge'), ['s1', 'p1', 'p2', at, 'urn:of the batch', 'p1', 'own']);
		assert.deepEqual(notes.valuesOf('move_document_entries_merge'), ['s1', 'p1', 'p2']);
	});

	test('an unlink moves back by its own statements', async () => {
		const notes = await write((set) => set.move({ from: { id: 'p2', givenId: null }, to: { id: 'p1', givenId: null }, reason: 'unlink' }));
		assert.ok(notes.names().length > 0);
		for (const name of notes.names()) assert.match(name, /_unlink$/);
	});
});

describe('a row is written', () => {
	const rowOf = async (further: Partial<Row>) =>
		(await write((set) => set.put(row('Observation', 'o1', further)))).valuesOf('insert_observation');

	test('with its links by the names of their columns, those that it has none for as null', async () => {
		const links = { accession_number: 'A "1"', patient_id: 'p1' };
		const names = tableShapes.DiagnosticReport.links.map(({ name }) => name);
		const written = (await write((set) => set.put(row('DiagnosticReport', 'r1', { links })))).valuesOf('insert_diagnostic_report');
		const values = written?.slice(10, 10 + names.length);
		const expected: Record<string, string> = { patient_id: '{p1}', accession_number: '{"A \\"1\\""}' };
		assert.deepEqual(
			values,
			names.map((name) => expected[name] ?? '{NULL}'),
		);
	});

	test('with its search columns, of the resource where it is there, else of its text', async () => {
		const text = '{"status":"final"}';
		assert.deepEqual(await rowOf({ text, resource: { status: 'final' } }), await rowOf({ text }));
		assert.ok((await rowOf({ text }))?.includes('{"final"}'));
	});

	test('without the escape of NUL, which PostgreSQL takes in no JSON; an escaped backslash before u0000 stays', async () => {
		const packed = (await rowOf({ text: String.raw`{"a":"x\u0000y\\u0000\\\u0000"}` }))?.[8];
		assert.equal(String(packed), String.raw`{"a":"xy\\u0000\\"}`);
	});
});

function audit(set: WorkingSet, id: string): void {
	set.of(auditTrail).put({ id, recordedAt: at, actor: 'cli:root', action: 'report.add', subject: 'r1', source: '', detail: '{}' });
}

function doubt(set: WorkingSet, id: string): void {
	const of = { messageId: 'l1', surface: 'mllp', at };
	const about = { patientId: 'p1', otherPatientId: 'p2', studyUid: null };
	set.of(identityDoubts).record({ id, kind: 'mismatch', key: id, text: 'x', ...about, first: of, last: of, count: 1 });
}

function reportStep(set: WorkingSet): void {
	const facts = { patientId: '100', seriesUids: [] } as unknown as NonNullable<ProcedureStep['facts']>;
	const said = { lastDigest: 'x', lastMessageId: 'l1', updatedAt: at };
	const report = { procedureStepId: 'm1', number: 1, messageId: 'l1', recordedAt: at, source: 'x', attributes: '{}' };
	set.of(procedureSteps).put({ ...step, ...said, facts }, { ...report, status: 'COMPLETED' });
}

function stateDocument(set: WorkingSet): void {
	const item = { patientId: 'p1', resourceType: 'Condition', item: 'i' } as const;
	set.of(documents).put({ ...item, documentId: 'd1', resourceId: 'c1', statedAt: '2026', isCurrent: true });
	set.of(documents).putBinary({ id: 'b1', documentId: 'd1', contentType: 'text/xml', bytes: Buffer.from('<x/>') });
}
