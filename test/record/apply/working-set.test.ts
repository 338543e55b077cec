import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Row } from '#record/apply/rows.ts';
import { WorkingSet } from '#record/apply/working-set.ts';
import { auditTrail } from '#record/holdings/audit-trail.ts';
import { diagnosticReports } from '#record/holdings/diagnostic-reports.ts';
import { type DocumentStatement, documents } from '#record/holdings/documents.ts';
import { imaging } from '#record/holdings/imaging.ts';
import { items } from '#record/holdings/items.ts';
import { orders } from '#record/holdings/orders.ts';
import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { procedureSteps } from '#record/holdings/procedure-steps.ts';
import { visits } from '#record/holdings/visits.ts';
import type { NewInstance } from '#record/imaging.ts';
import type { ProcedureStep, StepReport } from '#record/procedure-step.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { storedInstance } from '#test/support/stored-instance.ts';

function row(resourceType: ResourceType, id: string, links: Row['links'] = {}, stored = false): Row {
	const version = { version: 1, text: '{}', meta: null, source: null, lastUpdated: '2026-01-01T00:00:00.000Z' };
	return { resourceType, id, givenId: null, ...version, links, supersedes: undefined, stored };
}

function added(number: number, content: string, studyUid = '1.2'): NewInstance {
	const instance = storedInstance(number, content, studyUid, 'A1');
	return { instance, patientId: 'p1', studyId: `id of ${studyUid}`, isNewStudy: true, isNewSeries: true };
}

const study = {
	...{ id: 's1', studyUid: '1.2', patientId: 'p1', accessionNumber: 'A1', started: null },
	...{ instanceCount: 1, isStored: true },
};
const { digest, bytes, objectKey, callingAe, source } = storedInstance(1, 'first');
const held = { sopInstanceUid: '1.2.1.1', studyUid: '1.2', digest, bytes, objectKey, callingAe, source, storedAt: '2026-01-01' };
const step = { id: 'm1', sopInstanceUid: '2.1', facts: { patientId: '100' } } as unknown as ProcedureStep;
const report = { procedureStepId: 'm1', number: 1 } as unknown as StepReport;
const statement: DocumentStatement = {
	...{ documentId: 'd1', patientId: 'p1', item: 'i1', resourceId: 'c1', statedAt: '2026', isCurrent: true },
	resourceType: 'Condition',
};
const conflict = { ...held, id: 'k1', digest: 'other', objectKey: 'other', receivedAt: undefined, settlement: undefined };

/** Each way to change a working set: what was read before, the change, and what can be seen of it. */
const changes: readonly [name: string, change: (set: WorkingSet) => void, seen: (set: WorkingSet) => unknown][] = [
	['a row', (set) => set.put(row('Patient', 'p2')), (set) => [set.row('Patient', 'p2'), set.rows('Patient'), [...set.changed()]]],
	['a new version of a row', (set) => set.put({ ...row('Patient', 'p1'), version: 2 }), (set) => [set.rows('Patient'), [...set.changed()]]],
	[
		'a move',
		(set) => set.move({ from: { id: 'p1', givenId: null }, to: { id: 'p2', givenId: null }, reason: 'merge' }),
		(set) => set.moves,
	],
	[
		'the identifiers of a patient',
		(set) =>
			set
				.of(patientIdentifiers)
				.put('p1', [{ value: '100', system: 'a', old: false, rank: 0 }], [{ value: '200', system: 'a', old: false, rank: 0 }]),
		(set) => {
			const held = set.of(patientIdentifiers);
			return [held.entries('100'), held.entries('200'), [...held.changed], held.patientsOf(['100']), held.patientsOf(['200'])];
		},
	],
	['a visit', (set) => set.of(visits).put('|V1', row('Encounter', 'e2')), (set) => set.of(visits).of('|V1')],
	['a visit of a new number', (set) => set.of(visits).put('|V2', row('Encounter', 'e2')), (set) => set.of(visits).of('|V2')],
	[
		'an observation of a known order',
		(set) => set.of(orders).put('|O1', 'K', row('Observation', 'o2')),
		(set) => [set.of(orders).observation('|O1', 'K'), set.of(orders).anyOf('|O1')],
	],
	[
		'an observation of a new order',
		(set) => set.of(orders).put('|O2', 'K', row('Observation', 'o2')),
		(set) => [set.of(orders).observation('|O2', 'K'), set.of(orders).anyOf('|O2')],
	],
	[
		'an item',
		(set) => set.of(items).put(row('Condition', 'c2', { patient_id: 'p1', item_key: 'i1' })),
		(set) => set.of(items).of('Condition', 'p1', 'i1'),
	],
	[
		'a report of an order',
		(set) => set.of(diagnosticReports).put(row('DiagnosticReport', 'r2', { order_key: '|O1', study_uid: '1.2' })),
		(set) => [set.of(diagnosticReports).ofOrder('|O1'), set.of(diagnosticReports).naming(study)],
	],
	[
		'a report of no order',
		(set) => set.of(diagnosticReports).put(row('DiagnosticReport', 'r2', { order_key: null, filler_number: 'A1' })),
		(set) => set.of(diagnosticReports).naming(study),
	],
	[
		'an instance of a known series',
		(set) => set.of(imaging).putInstance(added(2, 'second')),
		(set) => [set.of(imaging).instance('1.2.1.2'), set.of(imaging).study('1.2'), [...set.of(imaging).newInstances]],
	],
	[
		'an instance of a new study',
		(set) => set.of(imaging).putInstance(added(1, 'first', '1.3')),
		(set) => [set.of(imaging).study('1.3'), set.of(imaging).hasSeries('1.3', '1.3.1'), set.of(imaging).studiesOf('A1')],
	],
	[
		'an instance in place of another',
		(set) => set.of(imaging).replaceInstance({ added: added(1, 'second'), studyUids: ['1.2'], patientId: 'p2', isLastWord: true }),
		(set) => [set.of(imaging).instance('1.2.1.1'), set.of(imaging).study('1.2'), [...set.of(imaging).replacements]],
	],
	[
		'a conflict',
		(set) => set.of(imaging).putConflict(conflict),
		(set) => [set.of(imaging).newConflicts, set.of(imaging).kept('1.2.1.1', 'other')],
	],
	[
		'a settled conflict',
		(set) => set.of(imaging).settleConflict({ conflictId: 'k0', as: 'stored', by: 'cli:root' }),
		(set) => [set.of(imaging).conflict('k0'), set.of(imaging).settledConflicts],
	],
	[
		'a report about a new procedure step',
		(set) => set.of(procedureSteps).put({ ...step, id: 'm2', sopInstanceUid: '2.2' }, report),
		(set) => [set.of(procedureSteps).step('2.2'), set.of(procedureSteps).changed(), set.of(procedureSteps).reports],
	],
	[
		'a report about a known procedure step',
		(set) => set.of(procedureSteps).put(step, report),
		(set) => [set.of(procedureSteps).step('2.1'), set.of(procedureSteps).changed(), set.of(procedureSteps).reports],
	],
	[
		'what a document states',
		(set) => set.of(documents).put({ ...statement, item: 'i2' }),
		(set) => [set.of(documents).currentOf('d1'), [...set.of(documents).changed]],
	],
	[
		'what a document states no more',
		(set) => set.of(documents).put({ ...statement, isCurrent: false }),
		(set) => [set.of(documents).currentOf('d1'), set.of(documents).latestElsewhere(statement, 'c1', 'd2')],
	],
	[
		'the bytes of a document',
		(set) => set.of(documents).putBinary({ id: 'b1', documentId: 'd1', contentType: 'text/xml', bytes: new Uint8Array(1) }),
		(set) => set.of(documents).binaries,
	],
	[
		'an event of the audit trail',
		(set) => {
			const about = { id: 'a1', recordedAt: '2026', actor: 'cli:root', action: 'report.add', subject: 'r1', source: '', detail: '{}' };
			set.of(auditTrail).put(about);
		},
		(set) => set.of(auditTrail).entries,
	],
];

/** A site of which something was read of every kind. */
function siteRead(): WorkingSet {
	const set = new WorkingSet();
	set.addStored(row('Patient', 'p1', { merged_into: null }, true));
	set.of(patientIdentifiers).addStored('100', { system: 'a', patientId: 'p1', old: false, rank: 0 });
	set.of(visits).addStored('|V1', row('Encounter', 'e1', { visit_key: '|V1' }, true));
	set.of(orders).addStored('|O1', 'K', row('Observation', 'o1', {}, true));
	set.of(items).addStored(row('Condition', 'c1', { patient_id: 'p1', item_key: 'i1' }, true));
	set.of(diagnosticReports).addStored(row('DiagnosticReport', 'r1', { order_key: '|O1' }, true));
	set.of(imaging).addStoredInstance(held);
	set.of(imaging).addStoredSeries(study, '1.2.1');
	set.of(imaging).addStoredConflict('k0', { sopInstanceUid: '1.2.1.1', objectKey: 'kept', isSettled: false });
	set.of(procedureSteps).addStored({ id: 'm1', sopInstanceUid: '2.1' } as ProcedureStep);
	set.of(documents).addStored(statement);
	return set;
}

class Refusal extends Error {}

const refuse = () => {
	throw new Refusal();
};

describe('a message that fails behind', () => {
	for (const [name, change, seen] of changes) {
		test(`${name}: leaves no trace of it, and the next message can change it`, () => {
			const set = siteRead();
			const before = structuredClone(seen(set));
			assert.throws(() => set.attempt(() => [change(set), refuse()]), Refusal);
			assert.deepEqual(seen(set), before);
			set.attempt(() => change(set));
			assert.notDeepEqual(seen(set), before);
			assert.deepEqual(seen(set), afterAlone(change, seen));
		});
	}

	test('everything: leaves no trace, nor what an earlier message did', () => {
		const set = siteRead();
		set.attempt(() => set.of(items).put(row('Condition', 'c9', { patient_id: 'p1', item_key: 'i1' })));
		const before = changes.map(([, , seen]) => structuredClone(seen(set)));
		const all = () => {
			for (const [, change] of changes) change(set);
			for (const [, change] of changes.toReversed()) change(set);
			refuse();
		};
		assert.throws(() => set.attempt(all), Refusal);
		assert.deepEqual(
			changes.map(([, , seen]) => seen(set)),
			before,
		);
		assert.deepEqual(
			[...set.changed()].map(({ id }) => id),
			['c9'],
		);
	});

	test('nothing: a message that succeeds keeps what it did when the next one fails', () => {
		const set = siteRead();
		set.attempt(() => set.put(row('Patient', 'p2')));
		assert.throws(() => set.attempt(() => [set.put(row('Patient', 'p3')), refuse()]), Refusal);
		assert.deepEqual(
			[...set.changed()].map(({ id }) => id),
			['p2'],
		);
	});
});

function afterAlone(change: (set: WorkingSet) => void, seen: (set: WorkingSet) => unknown): unknown {
	const set = siteRead();
	change(set);
	return seen(set);
}

describe('a working set', () => {
	test('has the newest version of a row, and of changed rows only what the batch made', () => {
		const set = siteRead();
		const second = { ...row('Patient', 'p1'), version: 2 };
		set.put(second);
		set.put({ ...second, version: 3, supersedes: second });
		assert.equal(set.row('Patient', 'p1')?.version, 3);
		assert.deepEqual(
			[...set.changed()].map(({ version }) => version),
			[3],
		);
	});

	test('makes a holding when it is asked for, and tells whether it has one', () => {
		const set = new WorkingSet();
		assert.equal(set.held(visits), undefined);
		assert.deepEqual(set.of(visits).of('|V1'), []);
		assert.equal(set.held(visits), set.of(visits));
	});

	test('leads from an identifier to everybody of a chain of merges, once each', () => {
		const set = new WorkingSet();
		for (const [id, into] of [
			['p1', 'p2'],
			['p2', 'p3'],
			['p3', null],
		] as const)
			set.addStored(row('Patient', id, { merged_into: into }, true));
		for (const patientId of ['p1', 'p2']) set.of(patientIdentifiers).addStored('100', { system: '', patientId, old: false, rank: 0 });
		assert.deepEqual([...set.of(patientIdentifiers).patientsOf(['100'])], ['p1', 'p2', 'p3']);
		assert.deepEqual([...set.of(patientIdentifiers).patientsOf(['200'])], []);
	});

	test('gives two visits of one number, and one that is put again once', () => {
		const set = siteRead();
		set.of(visits).addStored('|V1', row('Encounter', 'e2', {}, true));
		set.of(visits).put('|V1', { ...row('Encounter', 'e1'), version: 2 });
		assert.deepEqual(
			set
				.of(visits)
				.of('|V1')
				.map(({ id, version }) => [id, version]),
			[
				['e1', 2],
				['e2', 1],
			],
		);
	});

	test('knows a study that lost its last instance only by its last state', () => {
		const set = siteRead();
		const moved = { ...added(1, 'second', '1.3'), instance: { ...storedInstance(1, 'second', '1.3') } };
		moved.instance.attributes = { ...moved.instance.attributes, sopInstanceUid: '1.2.1.1' };
		set.of(imaging).replaceInstance({ added: moved, studyUids: ['1.2'], patientId: null, isLastWord: true });
		assert.equal(set.of(imaging).study('1.2'), undefined);
		assert.equal(set.of(imaging).lastKnownStudy('1.2')?.instanceCount, 0);
		assert.equal(set.of(imaging).study('1.3')?.instanceCount, 1);
		assert.deepEqual(set.of(imaging).storedOf(moved), { isKnownStudy: false, isKnownSeries: false });
		assert.deepEqual(set.of(imaging).storedOf(added(3, 'third')), { isKnownStudy: true, isKnownSeries: true });
	});
});
