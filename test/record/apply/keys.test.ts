import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readLine } from '#bulk/line.ts';
import { readEntries } from '#cda/entries.ts';
import type { JsonObject } from '#core/json.ts';
import { bundledLibrary } from '#fhir/profiles/bundled-source.ts';
import type { ResourceDefinition } from '#fhir/resource.ts';
import { resources } from '#fhir/resources/index.ts';
import { interpretSingle } from '#fhir/write/interpret.ts';
import { linksOf } from '#fhir/write/links.ts';
import type { ResourceDeletion } from '#record/apply/resource-deletion.ts';
import type { Row } from '#record/apply/rows.ts';
import type { ChangeSet } from '#record/change-set.ts';
import { heldContentOf, type ResourceChange } from '#record/kinds/resource.ts';
import { clinicalDocument, read as readDocument } from '#test/support/cda.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { defaultLimits } from '../../../src/limits.ts';
import { read } from '../../hl7v2/reading.ts';

const settings = { settings: { check_references: false }, scopes: undefined, limits: defaultLimits };
const lineSettings = {
	...defaultLimits,
	checkReferences: false,
	base: 'http://h/fhir',
	profiles: 'off' as const,
	library: bundledLibrary(),
};

function set(change: ResourceChange | ResourceDeletion): ChangeSet {
	return { changes: [change], flags: [] };
}

function fhir(method: string, url: string, body: JsonObject): ChangeSet {
	const write = { method, url, ifMatch: undefined, ifNoneMatch: undefined, ifNoneExist: undefined, prefer: undefined, fullUrl: undefined };
	return set(interpretSingle({ ...write, body }, settings));
}

const imported = (resource: JsonObject) => set(readLine(Buffer.from(JSON.stringify(resource)), 1, lineSettings).change);

const pid = 'PID|1||G1^^^&1.2.3&ISO||Hopman^Grace';
const a08 = (...segments: string[]) => read('ADT^A08', [pid, ...segments]);
const subject = { reference: 'Patient/grace' };

/** A site that knows Grace by an id that a FHIR client chose. */
function site(): MemorySite {
	const known = new MemorySite();
	known.apply(
		fhir('PUT', 'Patient/grace', { resourceType: 'Patient', id: 'grace', identifier: [{ system: 'urn:oid:1.2.3', value: 'G1' }] }),
	);
	return known;
}

function rowOf(of: MemorySite, type: string): Row {
	const [row, ...others] = of.rows(type);
	assert.ok(row);
	assert.deepEqual(others, [], 'it is doubled');
	return row;
}

function resourceOf(row: Row): JsonObject {
	return { resourceType: row.resourceType, ...(JSON.parse(row.text) as JsonObject) };
}

const entry = (section: string, template: string, statement: string) =>
	`<component><structuredBody><component><section><templateId root="2.16.840.1.113883.10.20.22.2.${section}"/><title>S</title><text>s</text><entry>${statement.replace('<id', `<templateId root="2.16.840.1.113883.10.20.22.4.${template}"/><id`)}</entry></section></component></structuredBody></component>`;
const problem = entry(
	'5.1',
	'4',
	'<observation classCode="OBS" moodCode="EVN"><id root="1.2.7" extension="7"/><code code="55607006" codeSystem="2.16.840.1.113883.6.96"/>' +
		'<statusCode code="completed"/><value xsi:type="CD" code="44054006" codeSystem="2.16.840.1.113883.6.96"/></observation>',
);
const procedure = entry(
	'7.1',
	'14',
	'<procedure classCode="PROC" moodCode="EVN"><id root="1.2.7" extension="7"/><code code="80146002" codeSystem="2.16.840.1.113883.6.96"/>' +
		'<statusCode code="completed"/></procedure>',
);
const visit = '<componentOf><encompassingEncounter><id root="1.2.7" extension="7"/><effectiveTime/></encompassingEncounter></componentOf>';
const document = (body: { body?: string; header?: string; participants?: string }) =>
	readDocument(clinicalDocument({ id: 'root="1.2.7" extension="7"', ...body }), readEntries);

/** The fact 7 of the authority 1.2.7, as each format states it. */
const facts: readonly { type: string; messages: Readonly<Record<string, ChangeSet>> }[] = [
	{
		type: 'Encounter',
		messages: {
			'PV1-19': a08('PV1|1|I|W1||||||||||||||||7^^^&1.2.7&ISO'),
			'PV1-50': a08(`PV1|1|I|W1${'|'.repeat(47)}7^^^&1.2.7&ISO`),
			'encompassingEncounter of a document': document({ participants: visit }),
		},
	},
	{ type: 'Encounter', messages: { 'PID-18': read('ADT^A08', [`${pid}${'|'.repeat(13)}7^^^&1.2.7&ISO`, 'PV1|1|I|W1']) } },
	{
		type: 'Condition',
		messages: {
			'DG1-20': a08(`DG1|1||E11^Diabetes^I10${'|'.repeat(17)}7^^1.2.7^ISO`),
			'a problem of a document': document({ body: problem }),
		},
	},
	{
		type: 'Procedure',
		messages: {
			'PR1-19': a08(`PR1|1||1^X^C4||2024${'|'.repeat(14)}7^^1.2.7^ISO`),
			'a procedure of a document': document({ body: procedure }),
		},
	},
	{ type: 'DocumentReference', messages: { 'the id of a document': document({}) } },
];

/** Keys that a resource does not say, and why; messages and documents alone fill them. */
const ofMessages: Readonly<Record<string, string>> = {
	'AllergyIntolerance.item_key': 'AL1 has no identifier: the allergen says what, and not which of a client’s allergies it is',
	'Observation.order_key':
		'one order has many results, and an order number that a client states would take a message’s order from its patient',
	'Observation.item_key': 'OBX-3 and OBX-4 tell results apart within one message, by its own order',
	'DiagnosticReport.order_key': 'as of Observation',
	'DiagnosticReport.item_key': 'as of Observation',
	'DocumentReference.set_key': 'setId stands beside other identifiers of a DocumentReference',
	'DocumentReference.replaces_key': 'DocumentReference.relatesTo names a resource, not the id of a document',
};

describe('keys by which messages find a resource', () => {
	for (const { type, messages } of facts) {
		const definition = resources[type as keyof typeof resources];
		for (const [field, message] of Object.entries(messages)) {
			test(`are the same whichever way a ${type} comes: ${field}, a FHIR client, an import`, () => {
				const known = site();
				known.apply(message);
				const row = rowOf(known, type);
				const keys = keysOf(definition, row);
				assert.ok(
					Object.values(keys).every((key) => typeof key === 'string' && key.includes('7')),
					JSON.stringify(keys),
				);
				const again = site();
				again.apply(imported(resourceOf(row)));
				assert.deepEqual(keysOf(definition, rowOf(again, type)), keys);
				if (!definition.interactions.includes('create')) return;
				const written = site();
				written.apply(fhir('POST', type, resourceOf(row)));
				assert.deepEqual(keysOf(definition, rowOf(written, type)), keys);
			});

			// A document finds again what documents stated, and takes nothing else for it.
			if (field.endsWith('of a document') && definition.type !== 'Encounter' && definition.type !== 'DocumentReference') continue;
			test(`lead ${field} to the ${type} that an import brought, which is not doubled`, () => {
				const first = site();
				first.apply(message);
				const second = site();
				second.apply(imported(resourceOf(rowOf(first, type))));
				second.apply(message);
				rowOf(second, type);
			});
		}
	}

	test('that no resource says are those that are listed, each with its reason', () => {
		const stated = Object.values(resources).flatMap(({ type, identity, table }) =>
			table.links.flatMap(({ name }) => (name.endsWith('_key') && !(name in identity) ? [`${type}.${name}`] : [])),
		);
		assert.deepEqual(stated.sort(), Object.keys(ofMessages).sort());
	});

	test('are tried above for every type that has some', () => {
		const tried = new Set(facts.map(({ type }) => type));
		assert.deepEqual(
			Object.values(resources).flatMap(({ type, identity }) => (Object.keys(identity).length > 0 && !tried.has(type) ? [type] : [])),
			[],
		);
	});
});

function keysOf({ identity }: ResourceDefinition, { links }: Row): Record<string, unknown> {
	return Object.fromEntries(Object.keys(identity).map((name) => [name, links[name]]));
}

const diagnosis = (identifier: JsonObject[]): JsonObject => ({
	resourceType: 'Condition',
	identifier,
	clinicalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] },
	code: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'E11' }] },
	note: [{ text: 'of the client' }],
	subject,
});
const dg1 = (number: string) => a08(`DG1|1||E11^Diabetes^I10${'|'.repeat(17)}${number}^^1.2.7^ISO`);
const seven = [{ system: 'urn:oid:1.2.7', value: '7' }];

describe('a diagnosis of a FHIR client', () => {
	test('is updated by the message that names its identifier, and keeps what the message does not speak of', () => {
		const known = site();
		known.apply(fhir('POST', 'Condition', diagnosis(seven)));
		known.apply(dg1('7'));
		const { text } = rowOf(known, 'Condition');
		assert.match(text, /of the client/);
		assert.match(text, /Diabetes/);
	});

	test('is not taken for one that has the same code, or another identifier', () => {
		for (const message of [a08('DG1|1||E11^Diabetes^I10'), dg1('8')]) {
			const known = site();
			known.apply(fhir('POST', 'Condition', diagnosis(seven)));
			known.apply(message);
			assert.equal(known.rows('Condition').length, 2);
		}
	});

	test('is found under the identifier that it has now', () => {
		const known = site();
		known.apply(fhir('PUT', 'Condition/c', { ...diagnosis(seven), id: 'c' }));
		known.apply(fhir('PUT', 'Condition/c', { ...diagnosis([{ system: 'urn:oid:1.2.7', value: '8' }]), id: 'c' }));
		known.apply(dg1('8'));
		assert.equal(known.rows('Condition').length, 1);
		known.apply(dg1('7'));
		assert.equal(known.rows('Condition').length, 2);
	});

	test('that a message stated by its code is still what the message means when the client gives it an identifier', () => {
		const known = site();
		known.apply(a08('DG1|1||E11^Diabetes^I10'));
		const row = rowOf(known, 'Condition');
		const { links } = row;
		const { item_key: key } = linksOf(resources.Condition, { ...resourceOf(row), identifier: seven }, heldContentOf(row));
		assert.equal(key, links['item_key']);
	});

	test('that another patient has now is not found with the first one', () => {
		const known = site();
		known.apply(fhir('PUT', 'Condition/c', { ...diagnosis(seven), id: 'c' }));
		known.apply(fhir('PUT', 'Condition/c', { ...diagnosis(seven), id: 'c', subject: { reference: 'Patient/other' } }));
		known.apply(dg1('7'));
		assert.equal(known.rows('Condition').length, 2);
	});
});
