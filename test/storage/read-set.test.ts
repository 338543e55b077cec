import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tableShapes } from '#fhir/resources/index.ts';
import { SiteKeys } from '#record/apply/site-keys.ts';
import type { WorkingSet } from '#record/apply/working-set.ts';
import { diagnosticReports } from '#record/holdings/diagnostic-reports.ts';
import { documents } from '#record/holdings/documents.ts';
import { imaging, nameInstance } from '#record/holdings/imaging.ts';
import { items } from '#record/holdings/items.ts';
import { orders } from '#record/holdings/orders.ts';
import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { peopleAndPlaces } from '#record/holdings/people-and-places.ts';
import { procedureSteps } from '#record/holdings/procedure-steps.ts';
import { visits } from '#record/holdings/visits.ts';
import { ReadSet } from '#storage/read-set.ts';
import { type NamedCells, StatementNotes } from '#test/support/statement-runner.ts';
import { storedInstance } from '#test/support/stored-instance.ts';

const readSet = new ReadSet(tableShapes);
const site = 's1';

/** A row of a resource, as every statement selects it. */
const resource = (id: string, further: NamedCells = {}): NamedCells => ({
	...{ site_id: site, id, given_id: null, version: '3', last_updated: '2026-01-01T00:00:00.000Z', source: 'urn:x', meta: null },
	...{ resource: `{"of":"${id}"}`, ...further },
});
const patient = (id: string, value: string, further: NamedCells = {}) =>
	resource(id, { merged_into: null, value, system: 'urn:a', old: 'f', rank: '0', ...further });
const study = (study_uid: string, further: NamedCells = {}): NamedCells => ({
	...{ site_id: site, study_uid, id: `id of ${study_uid}`, patient_id: 'p1', accession_number: 'A1', started: '2026', instance_count: '2' },
	...further,
});

async function read(
	name: (keys: SiteKeys) => void,
	answers: Record<string, NamedCells[]> = {},
): Promise<{ set: WorkingSet; notes: StatementNotes }> {
	const keys = new SiteKeys();
	name(keys);
	const notes = new StatementNotes(answers);
	const set = (await readSet.read(notes, new Map([[site, keys]]))).get(site);
	assert.ok(set);
	return { set, notes };
}

describe('what a batch names is read', () => {
	const document = { identifierValues: ['100'], keys: ['d'], items: [{ resourceType: 'Condition', item: 'i' }] } as const;
	const item = { resourceType: 'Condition', identifierValues: ['100'], item: 'i' } as const;
	const known = { find_patients: [patient('p1', '100')] };
	for (const [what, name, answers, expected] of [
		['nothing', () => undefined, {}, []],
		['an identifier', (keys) => keys.of(patientIdentifiers).add('100'), {}, ['find_patients']],
		[
			'an identifier of a patient who was replaced',
			(keys) => keys.of(patientIdentifiers).add('100'),
			{ find_patients: [patient('p1', '100', { merged_into: 'p2' })] },
			['find_patients', 'find_survivors'],
		],
		[
			'people, places and orders',
			(keys) => {
				keys.of(peopleAndPlaces).named.add('1');
				keys.of(peopleAndPlaces).orders.push({ term: '2', patient: '100' });
			},
			{},
			['find_people_and_places'],
		],
		['a visit', (keys) => keys.of(visits).add('|V1'), {}, ['find_encounters']],
		['an order', (keys) => keys.of(orders).add('|O1'), {}, ['find_observations']],
		['an item of nobody who is known', (keys) => keys.of(items).push(item), {}, []],
		[
			'items of a known patient',
			(keys) => {
				keys.of(patientIdentifiers).add('100');
				keys.of(items).push(item, { ...item, resourceType: 'Procedure' }, { ...item, item: 'j' });
			},
			known,
			['find_patients', 'find_condition_items', 'find_procedure_items'],
		],
		[
			'rows by their ids, one statement a table',
			(keys) => {
				for (const id of ['p1', 'p2']) keys.addRow('Patient', id);
				keys.addRow('Procedure', 'x1');
			},
			{},
			['find_patient_rows', 'find_procedure_rows'],
		],
		['a study that a client may have written', (keys) => keys.addRow('ImagingStudy', 'x'), {}, ['find_imaging_study_resource_rows']],
		['a procedure step', (keys) => keys.of(procedureSteps).add('2.1'), {}, ['find_procedure_steps']],
		['a report of an order', (keys) => keys.of(diagnosticReports).orderKeys.add('|O1'), {}, ['find_reports']],
		['a study by its accession number', (keys) => keys.of(imaging).accessionNumbers.add('A1'), {}, ['find_studies_by_accession']],
		['a conflict', (keys) => keys.of(imaging).conflictIds.add('k1'), {}, ['find_conflicts']],
		[
			'an instance of a new study, for which reports may wait',
			(keys) => nameInstance(keys.of(imaging), storedInstance(1, 'first')),
			{},
			['find_instances', 'find_studies', 'find_reports_of_studies'],
		],
		[
			'a further instance of a known study',
			(keys) => nameInstance(keys.of(imaging), storedInstance(2, 'second')),
			{ find_studies: [study('1.2', { series_uid: '1.2.1' })] },
			['find_instances', 'find_studies'],
		],
		[
			'a study on which a person reports, with its patient',
			(keys) => {
				keys.of(imaging).studyUids.add('1.2');
				keys.of(diagnosticReports).studyUids.add('1.2');
			},
			{ find_studies: [study('1.2', { series_uid: null })] },
			['find_studies', 'find_patient_rows'],
		],
		[
			'other content under a known UID',
			(keys) => nameInstance(keys.of(imaging), storedInstance(1, 'other')),
			{
				find_instances: [
					{
						...{ site_id: site, sop_instance_uid: '1.2.1.1', digest: 'first', object_key: 'o', study_uid: '1.9', bytes: '5' },
						...{ calling_ae: 'CT1', source: 'x', stored_at: '2026' },
					},
				],
				find_studies: [study('1.2', { series_uid: '1.2.1' })],
				find_instance_policies: [{ id: site, instance_policy: 'replace' }],
			},
			['find_instances', 'find_studies', 'find_kept_objects', 'find_instance_policies', 'find_studies', 'find_reports_of_studies'],
		],
		['a document of nobody who is known', (keys) => keys.of(documents).push(document), {}, ['find_document_owners']],
		[
			'a document of a known patient, with what its versions state and who else states it',
			(keys) => {
				keys.of(patientIdentifiers).add('100');
				keys.of(documents).push(document);
			},
			{
				...known,
				find_documents: [resource('d1', { patient_id: 'p1' })],
				find_stated_items: [{ site_id: site, patient_id: 'p1', resource_type: 'Condition', item_key: 'i', resource_id: 'c1', max: '2026' }],
			},
			[...['find_patients', 'find_documents', 'find_document_owners', 'find_document_entries', 'find_stated_items'], 'find_condition_rows'],
		],
	] satisfies [string, (keys: SiteKeys) => unknown, Record<string, NamedCells[]>, string[]][]) {
		test(`${what}: ${expected.join(', ') || 'no statement'}`, async () => {
			const { notes } = await read(name, answers);
			assert.deepEqual(notes.names(), expected);
		});
	}

	test('of all sites by one statement, whose keys each go with their site', async () => {
		const keys = new Map(['s1', 's2'].map((siteId) => [siteId, new SiteKeys()]));
		for (const [siteId, own] of keys) own.of(visits).add(`|V of ${siteId}`).add('|"V"');
		const notes = new StatementNotes({ find_encounters: [resource('e2', { site_id: 's2', visit_key: '|"V"' })] });
		const sets = await readSet.read(notes, keys);
		const named = ['{s1,s1,s2,s2}', '{"|V of s1","|\\"V\\"","|V of s2","|\\"V\\""}'];
		assert.deepEqual(notes.ran, [{ name: 'find_encounters', values: [...named, '{}', '{}', '{}'] }]);
		assert.deepEqual(
			[...sets.values()].map((set) => set.of(visits).of('|"V"').length),
			[0, 1],
		);
	});

	test('and a row of a site that is not of the batch is refused', async () => {
		const foreign = { find_encounters: [resource('e2', { site_id: 's9', visit_key: '|V' })] };
		await assert.rejects(
			read((keys) => keys.of(visits).add('|V'), foreign),
			/of another site/,
		);
	});

	test('all that the keys lead to is asked at once, before anything is answered', async () => {
		const keys = new SiteKeys();
		keys.of(patientIdentifiers).add('100');
		keys.of(visits).add('|V1');
		keys.of(orders).add('|O1');
		keys.of(procedureSteps).add('2.1');
		keys.of(diagnosticReports).orderKeys.add('|O1');
		keys.addRow('Procedure', 'x1');
		const notes = new StatementNotes();
		const reading = readSet.read(notes, new Map([[site, keys]]));
		assert.deepEqual(
			new Set(notes.names()),
			new Set(['find_patients', 'find_encounters', 'find_observations', 'find_procedure_steps', 'find_reports', 'find_procedure_rows']),
		);
		await reading;
	});
});

describe('what is read becomes, by the names of the columns', () => {
	test('a row with its links', async () => {
		const links = { patient_id: 'p1', encounter_id: null, order_key: '|O1', item_key: 'K', sent_at: null };
		const { set } = await read((keys) => keys.of(orders).add('|O1'), { find_observations: [resource('o1', links)] });
		assert.deepEqual(set.of(orders).observation('|O1', 'K'), {
			...{ resourceType: 'Observation', id: 'o1', givenId: null, version: 3, lastUpdated: '2026-01-01T00:00:00.000Z', source: 'urn:x' },
			...{ meta: null, text: '{"of":"o1"}', links, supersedes: undefined, stored: true },
		});
	});

	test('a patient with the entries that led there, and whoever replaced them', async () => {
		const { set } = await read((keys) => keys.of(patientIdentifiers).add('100'), {
			find_patients: [patient('p1', '100', { merged_into: 'p2' }), patient('p3', '100', { system: '', old: 't', rank: '7' })],
			find_survivors: [resource('p2', { merged_into: null })],
		});
		assert.deepEqual(set.of(patientIdentifiers).entries('100'), [
			{ system: 'urn:a', patientId: 'p1', old: false, rank: 0 },
			{ system: '', patientId: 'p3', old: true, rank: 7 },
		]);
		assert.deepEqual([...set.of(patientIdentifiers).patientsOf(['100'])], ['p1', 'p2', 'p3']);
		assert.deepEqual([...set.changed()], []);
	});

	test('a visit and an item under their keys', async () => {
		const { set } = await read(
			(keys) => {
				keys.of(patientIdentifiers).add('100');
				keys.of(visits).add('a|V1');
				keys.of(items).push({ resourceType: 'Condition', identifierValues: ['100'], item: 'i' });
			},
			{
				find_patients: [patient('p1', '100')],
				find_encounters: [resource('e1', { patient_id: 'p1', visit_key: 'a|V1' })],
				find_condition_items: [resource('c1', { patient_id: 'p1', encounter_id: null, item_key: 'i' })],
			},
		);
		assert.deepEqual(
			set
				.of(visits)
				.of('a|V1')
				.map(({ id }) => id),
			['e1'],
		);
		assert.deepEqual(
			set
				.of(items)
				.of('Condition', 'p1', 'i')
				.map(({ id }) => id),
			['c1'],
		);
	});

	test('a procedure step', async () => {
		const { set } = await read((keys) => keys.of(procedureSteps).add('2.1'), {
			find_procedure_steps: [
				{
					...{ site_id: site, id: 'm1', sop_instance_uid: '2.1', study_uid: '1.2', status: 'COMPLETED', attributes: '{}', late: 't' },
					...{ reports: '4', last_digest: 'x', last_message_id: 'y', updated_at: 'z' },
				},
			],
		});
		assert.deepEqual(set.of(procedureSteps).step('2.1'), {
			...{ id: 'm1', sopInstanceUid: '2.1', studyUid: '1.2', status: 'COMPLETED', attributes: '{}', late: true },
			...{ reports: 4, lastDigest: 'x', lastMessageId: 'y', updatedAt: 'z' },
		});
		assert.deepEqual(set.of(procedureSteps).changed(), []);
	});

	test('studies with their series, instances, conflicts, and what is kept aside', async () => {
		const { set } = await read(
			(keys) => {
				nameInstance(keys.of(imaging), storedInstance(1, 'other'));
				keys.of(imaging).conflictIds.add('k1').add('k2');
			},
			{
				find_instances: [
					{
						...{ site_id: site, sop_instance_uid: '1.2.1.1', digest: 'first', object_key: 'o', study_uid: '1.2', bytes: '5' },
						...{ calling_ae: '', source: 'x', stored_at: '2026' },
					},
				],
				find_studies: [study('1.2', { series_uid: '1.2.1' }), study('1.2', { series_uid: '1.2.7' })],
				find_conflicts: [
					{ site_id: site, id: 'k1', sop_instance_uid: '1.2.1.1', object_key: 'q', settled_at: null },
					{ site_id: site, id: 'k2', sop_instance_uid: '1.2.1.1', object_key: 'r', settled_at: '2026' },
				],
				find_kept_objects: [{ site_id: site, sop_instance_uid: '1.2.1.1', digest: 'other', id: 'k1', object_key: 'q', settled_at: null }],
				find_instance_policies: [{ id: site, instance_policy: 'refuse' }],
			},
		);
		const held = set.of(imaging);
		assert.deepEqual(held.study('1.2'), {
			...{ studyUid: '1.2', id: 'id of 1.2', patientId: 'p1', accessionNumber: 'A1', started: '2026', instanceCount: 2, isStored: true },
			...{ stated: undefined, formerPatientIds: [] },
		});
		assert.deepEqual([held.hasSeries('1.2', '1.2.1'), held.hasSeries('1.2', '1.2.7'), held.hasSeries('1.2', '1.2.8')], [true, true, false]);
		assert.deepEqual(held.instance('1.2.1.1'), {
			...{ sopInstanceUid: '1.2.1.1', studyUid: '1.2', digest: 'first', bytes: 5, objectKey: 'o', callingAe: '', source: 'x' },
			storedAt: '2026',
			statedStudyUid: undefined,
		});
		assert.deepEqual([held.conflict('k1')?.isSettled, held.conflict('k2')?.isSettled, held.conflict('k3')], [false, true, undefined]);
		assert.deepEqual([held.kept('1.2.1.1', 'other'), held.policy], [[{ id: 'k1', objectKey: 'q', isSettled: false }], 'refuse']);
	});

	test('what documents state, who owns their keys, and who else states it', async () => {
		const { set } = await read(
			(keys) => {
				keys.of(patientIdentifiers).add('100');
				keys.of(documents).push({ identifierValues: ['100'], keys: ['k'], items: [] });
			},
			{
				find_patients: [patient('p1', '100')],
				find_documents: [resource('d1', { patient_id: 'p1', document_key: 'k' })],
				find_document_owners: [{ site_id: site, key: 'k', patient_id: 'p9' }],
				find_document_entries: [
					{
						...{ site_id: site, document_id: 'd1', patient_id: 'p1', resource_type: 'Condition', item_key: 'i', resource_id: 'c1' },
						stated_at: '2026',
					},
				],
				find_stated_items: [
					{ site_id: site, patient_id: 'p1', resource_type: 'Condition', item_key: 'i', resource_id: 'c1', max: '2027' },
					{ site_id: site, patient_id: 'p1', resource_type: 'Condition', item_key: 'i', resource_id: 'c2', max: null },
				],
				find_condition_rows: [resource('c1', { patient_id: 'p1' })],
			},
		);
		const item = { patientId: 'p1', resourceType: 'Condition', item: 'i' } as const;
		const stated = set.of(documents);
		assert.equal(set.row('DocumentReference', 'd1')?.links['document_key'], 'k');
		assert.deepEqual(stated.ownersOf('k'), ['p9']);
		assert.deepEqual(stated.currentOf('d1'), [{ ...item, documentId: 'd1', resourceId: 'c1', statedAt: '2026', isCurrent: true }]);
		assert.deepEqual([...stated.resourcesOf(item)], ['c1', 'c2']);
		assert.deepEqual([stated.latestElsewhere(item, 'c1', 'd1'), stated.latestElsewhere(item, 'c2', 'd1')], ['2027', undefined]);
		assert.equal(set.row('Condition', 'c1')?.text, '{"of":"c1"}');
	});

	test('a bug where a column that always has a value has none', async () => {
		const { id: _id, ...without } = resource('e1', { visit_key: '|V' });
		await assert.rejects(
			read((keys) => keys.of(visits).add('|V'), { find_encounters: [without] }),
			/has none/,
		);
	});
});
