import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { auditTrail } from '#record/holdings/audit-trail.ts';
import { identityDoubts } from '#record/holdings/identity-doubts.ts';
import { imaging } from '#record/holdings/imaging.ts';
import { siteAuthorities } from '#record/holdings/site-authorities.ts';
import { ordered } from '#record/identity/authorities.ts';
import type { InstancePolicy } from '#record/imaging.ts';
import type { StoredInstance } from '#record/instance.ts';
import type { Change } from '#record/kinds/index.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { SettlementChange } from '#record/kinds/settlement.ts';
import { patientChange } from '#test/support/change-sets.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { storedInstance } from '#test/support/stored-instance.ts';

function store(site: MemorySite, instance: StoredInstance, patient?: string, otherPatient: 'aside' | 'split' = 'aside') {
	const named = patient === undefined ? undefined : patientChange(patient, {}, 'keep');
	return site.apply({ changes: [{ kind: 'instance', named, instance, otherPatient }], flags: [] });
}

/** A patient as an image names them. */
function patientOf(value: string, system?: string): PatientChange {
	const identifier = { ...(system === undefined ? {} : { system }), value };
	const change = patientChange(value, {}, 'keep');
	return { ...change, identifiers: [identifier], patch: { elements: {}, parts: { identifier: { 'PID-3': [identifier] } } } };
}

function siteWith(policy: InstancePolicy): MemorySite {
	const site = new MemorySite();
	site.set.of(imaging).policy = policy;
	store(site, storedInstance(1, 'first'), '100');
	return site;
}

/** An instance that was compared with the stored one. */
const compared = (instance: StoredInstance, isBeginning = false, objectKey = '1.2.1.1/first'): StoredInstance => ({
	...instance,
	compared: { objectKey, isBeginning },
});

const nameOf = (site: MemorySite) => site.set.of(imaging).instance('1.2.1.1')?.digest;

describe('an instance', () => {
	test('begins its study and series with the patient whom it names; a further one counts', () => {
		const site = siteWith('keep');
		assert.deepEqual(store(site, storedInstance(2, 'second'), '100').instances, [{ kind: 'stored' }]);
		const study = site.set.of(imaging).study('1.2');
		assert.deepEqual([study?.instanceCount, study?.patientId], [2, site.rows('Patient')[0]?.id]);
		const added = [...site.set.of(imaging).newInstances.values()];
		assert.deepEqual(
			added.map(({ isNewStudy, isNewSeries }) => [isNewStudy, isNewSeries]),
			[
				[true, true],
				[false, false],
			],
		);
		assert.equal(new Set(added.map(({ studyId }) => studyId)).size, 1);
	});

	for (const policy of ['keep', 'refuse', 'replace'] as const) {
		test(`of another patient than its study has is kept aside and listed once, with policy ${policy}`, () => {
			const site = siteWith(policy);
			const foreign = { ...storedInstance(2, 'second'), isForeign: true as const };
			assert.deepEqual(store(site, storedInstance(2, 'second'), '200').instances, [{ kind: 'foreign' }]);
			assert.deepEqual(site.set.of(imaging).newConflicts, []);
			assert.deepEqual(store(site, foreign, '200').instances, [{ kind: 'aside', isHeld: false }]);
			assert.deepEqual(store(site, foreign, '200').instances, [{ kind: 'aside', isHeld: false }], 'a batch that is repeated');
			assert.deepEqual(store(site, { ...foreign, objectKey: 'again' }, '200').instances, [{ kind: 'aside', isHeld: true }]);
			const [conflict, ...more] = site.set.of(imaging).newConflicts;
			assert.deepEqual([conflict?.otherPatient?.id, conflict?.settlement, more], ['200', undefined, []]);
			assert.equal(site.set.of(imaging).study('1.2')?.instanceCount, 1);
			assert.deepEqual(
				[...site.set.of(identityDoubts).recorded.values()].map(({ kind, studyUid, count }) => [kind, studyUid, count]),
				[['other-patient', '1.2', 2]],
			);
			assert.equal(site.rows('Patient').length, 1, 'the patient whom it names is not made');
		});
	}

	test('of another patient is listed once, whichever name of the authority it states', () => {
		const site = siteWith('keep');
		site.set.of(siteAuthorities).put({ ...ordered('HOSP', '1.2.3'), origin: 'person', holds: true });
		for (const [index, system] of ['HOSP', '1.2.3', 'LAB'].entries()) {
			const instance = { ...storedInstance(index + 2, system), isForeign: true as const };
			const change = { kind: 'instance', named: patientOf('200', system), instance, otherPatient: 'aside' } as const;
			site.apply({ changes: [change], flags: [] });
		}
		const counts = [...site.set.of(identityDoubts).recorded.values()].map(({ count }) => count);
		assert.deepEqual(counts, [2, 1]);
	});

	test('of another patient becomes part of a study of its own where the site says so', () => {
		const site = siteWith('keep');
		const [outcome] = store(site, storedInstance(2, 'second'), '200', 'split').instances;
		assert.ok(outcome?.kind === 'split');
		assert.match(outcome.studyUid, /^2\.25\.[1-9]\d{30,38}$/);
		assert.deepEqual(store(site, storedInstance(3, 'third'), '200', 'split').instances, [outcome]);
		assert.deepEqual(store(site, { ...storedInstance(2, 'second'), objectKey: 'again' }, '200', 'split').instances, [
			{ kind: 'duplicate', studyUid: outcome.studyUid },
		]);
		const [first, second] = ['1.2', outcome.studyUid].map((uid) => site.set.of(imaging).study(uid));
		const patients = site.rows('Patient').map(({ id }) => id);
		assert.deepEqual([first?.instanceCount, second?.instanceCount, [first?.patientId, second?.patientId]], [1, 2, patients]);
		assert.equal(site.set.of(imaging).newInstances.get('1.2.1.2')?.statedStudyUid, '1.2');
	});

	test('whose patient is in doubt begins a study without one; the next that settles it gives it one', () => {
		const site = new MemorySite();
		for (const system of ['HOSP', 'LAB']) site.apply({ changes: [patientOf('M7', system)], flags: [] });
		const [hospital] = site.rows('Patient');
		const send = (number: number, named: PatientChange | undefined) => {
			const change = { kind: 'instance', named, instance: storedInstance(number, `${number}`), otherPatient: 'aside' } as const;
			return site.apply({ changes: [change], flags: [] }).instances;
		};
		const study = () => site.set.of(imaging).study('1.2');
		assert.deepEqual(send(1, patientOf('M7')), [{ kind: 'stored' }]);
		assert.deepEqual([study()?.patientId, study()?.stated], [null, { id: 'M7', system: '', name: '' }]);
		assert.deepEqual(send(2, undefined), [{ kind: 'stored' }]);
		assert.deepEqual(send(3, patientOf('M8')), [{ kind: 'foreign' }]);
		assert.deepEqual(send(4, patientOf('M7')), [{ kind: 'stored' }]);
		const [doubt] = site.set.of(identityDoubts).recorded.values();
		assert.deepEqual([doubt?.kind, doubt?.studyUid, doubt?.count], ['unmatched-study', '1.2', 2]);
		assert.deepEqual(send(5, patientOf('M7', 'HOSP')), [{ kind: 'stored' }]);
		assert.deepEqual([study()?.patientId, study()?.instanceCount], [hospital?.id, 4]);
		assert.deepEqual(
			site.set.of(identityDoubts).settled.map(({ studyUid, how }) => [studyUid, how]),
			[['1.2', 'image']],
		);
		assert.deepEqual(send(6, patientOf('M7')), [{ kind: 'stored' }], 'the patient of a known study is not looked up again');
	});

	test('without a Patient ID names nobody else: not another patient than a study has, nor the same as another image of that name', () => {
		const site = new MemorySite();
		const send = (number: number, named?: PatientChange, studyUid = '1.2') => {
			const plain = storedInstance(number, `${number}`);
			const name = { family: 'Unknown', given: 'Trauma', middle: '', prefix: '', suffix: '', ideographic: '', phonetic: '' };
			const attributes = { ...plain.attributes, studyUid, patient: { ...plain.attributes.patient, name } };
			const change = { kind: 'instance', named, instance: { ...plain, attributes }, otherPatient: 'split' } as const;
			return site.apply({ changes: [change], flags: [] }).instances;
		};
		const study = (uid: string) => site.set.of(imaging).study(uid);
		for (const [number, uid] of [
			[1, '1.2'],
			[2, '1.2'],
			[3, '1.3'],
		] as const)
			assert.deepEqual(send(number, undefined, uid), [{ kind: 'stored' }]);
		assert.deepEqual([study('1.2')?.patientId, study('1.2')?.stated], [null, { name: 'Unknown^Trauma' }]);
		assert.deepEqual(
			[...site.set.of(identityDoubts).recorded.values()].map(({ kind, studyUid, count }) => [kind, studyUid, count]),
			[
				['unmatched-study', '1.2', 2],
				['unmatched-study', '1.3', 1],
			],
		);
		assert.deepEqual(send(4, patientOf('M1')), [{ kind: 'stored' }], 'whoever has a number may be this person');
		assert.deepEqual([study('1.2')?.patientId, study('1.3')?.patientId], [site.rows('Patient')[0]?.id, null]);
		assert.deepEqual(send(5), [{ kind: 'stored' }], 'and an image without one belongs to its study');
		assert.equal(site.rows('Patient').length, 1);
	});

	test('of a study that a person gave to another patient may still name the former one', () => {
		const site = siteWith('keep');
		const index = site.set.of(imaging);
		const study = index.study('1.2') ?? assert.fail();
		site.apply({ changes: [patientChange('200')], flags: [] });
		const [first, second] = site.rows('Patient');
		index.assignStudy(study, second?.id ?? '', [first?.id ?? '']);
		for (const [number, patient] of [
			[2, '100'],
			[3, '200'],
		] as const)
			assert.deepEqual(store(site, storedInstance(number, patient), patient).instances, [{ kind: 'stored' }]);
		assert.deepEqual(store(site, storedInstance(4, '300'), '300').instances, [{ kind: 'foreign' }]);
		// The former patient was merged into the one who has 300 now.
		site.apply({ changes: [patientChange('300')], flags: [] });
		const formerSurvivorIds = site
			.rows('Patient')
			.slice(2)
			.map(({ id }) => id);
		index.addStoredStudy({ ...(index.study('1.2') ?? assert.fail()), formerSurvivorIds });
		assert.deepEqual(store(site, storedInstance(4, '300'), '300').instances, [{ kind: 'stored' }]);
	});

	test('of another patient is kept aside where its study of its own has got yet another patient', () => {
		const site = siteWith('keep');
		const [outcome] = store(site, storedInstance(2, 'second'), '200', 'split').instances;
		assert.ok(outcome?.kind === 'split');
		const index = site.set.of(imaging);
		site.apply({ changes: [patientChange('300')], flags: [] });
		const [, , third] = site.rows('Patient');
		index.addStoredStudy({ ...(index.study(outcome.studyUid) ?? assert.fail()), patientId: third?.id ?? '' });
		assert.deepEqual(store(site, storedInstance(3, 'third'), '200', 'split').instances, [{ kind: 'foreign' }]);
	});

	test('of a study without a patient: a merge that leaves one patient with the number settles whose it is', () => {
		const site = new MemorySite();
		for (const system of ['HOSP', 'LAB']) site.apply({ changes: [patientOf('M7', system)], flags: [] });
		site.apply({
			changes: [{ kind: 'instance', named: patientOf('M7'), instance: storedInstance(1, 'x'), otherPatient: 'aside' }],
			flags: [],
		});
		const [survivor, prior] = site.rows('Patient').map(({ id }) => id);
		assert.ok(survivor && prior);
		const index = site.set.of(imaging);
		const study = index.study('1.2') ?? assert.fail();
		const other = { ...study, studyUid: '1.3' };
		// A number that one patient had before is in doubt for another reason.
		index.addUnmatched({ study: other, candidates: [survivor] });
		index.addUnmatched({ study, candidates: [survivor, prior] });
		const edit = { operation: 'merge' as const, survivor, prior, identifiers: [], actor: 'cli:root' };
		site.apply({ changes: [{ kind: 'identity', edit }], flags: [] });
		assert.equal(index.study('1.2')?.patientId, survivor);
		assert.deepEqual(
			[...index.assigned.values()].map(({ studyUid, patientId }) => [studyUid, patientId]),
			[['1.2', survivor]],
		);
	});

	for (const [what, policy, instance, outcome, named] of [
		[
			'the same content again',
			'keep',
			{ ...storedInstance(1, 'first'), objectKey: 'again' },
			{ kind: 'duplicate', studyUid: '1.2' },
			'first',
		],
		['the row of a batch that was repeated', 'refuse', storedInstance(1, 'first'), { kind: 'stored', studyUid: '1.2' }, 'first'],
		[
			'other content, which the site keeps aside',
			'keep',
			compared(storedInstance(1, 'other')),
			{ kind: 'quarantined', isHeld: false },
			'first',
		],
		['other content, which the site refuses', 'refuse', compared(storedInstance(1, 'other')), { kind: 'refused' }, 'first'],
		[
			'other content, which the site puts in place',
			'replace',
			storedInstance(1, 'other'),
			{ kind: 'replaced', superseded: '1.2.1.1/first', studyUid: '1.2' },
			'other',
		],
	] as const) {
		test(`${what}: ${outcome.kind}`, () => {
			const site = siteWith(policy);
			assert.deepEqual(store(site, instance, '100').instances, [outcome]);
			assert.equal(nameOf(site), named);
			assert.equal(site.set.of(imaging).study('1.2')?.instanceCount, 1);
		});
	}

	test('with content that is kept aside already is held once', () => {
		const site = siteWith('keep');
		const other = compared(storedInstance(1, 'other'));
		store(site, other, '100');
		assert.deepEqual(store(site, { ...other, objectKey: 'again' }, '100').instances, [{ kind: 'quarantined', isHeld: true }]);
		assert.deepEqual(store(site, other, '100').instances, [{ kind: 'quarantined', isHeld: false }]);
		assert.equal(site.set.of(imaging).newConflicts.length, 1);
	});

	for (const policy of ['keep', 'refuse'] as const) {
		test(`that may go on where the stored one ends is compared first, with policy ${policy}`, () => {
			const site = siteWith(policy);
			const whole = storedInstance(1, 'first and more');
			const undecided = [{ kind: 'undecided', held: '1.2.1.1/first' }];
			assert.deepEqual(store(site, whole, '100').instances, undecided);
			assert.deepEqual(store(site, compared(whole, true, 'something that was stored before'), '100').instances, undecided);
			assert.deepEqual([nameOf(site), site.set.of(imaging).newConflicts], ['first', []]);
			assert.deepEqual(store(site, compared(whole, true), '100').instances, [
				{ kind: 'replaced', superseded: '1.2.1.1/first', studyUid: '1.2' },
			]);
			const [conflict] = site.set.of(imaging).newConflicts;
			assert.deepEqual([nameOf(site), conflict?.objectKey], ['first and more', '1.2.1.1/first']);
			assert.deepEqual(conflict?.settlement, { as: 'replaced', by: null });
		});
	}

	test('that is shorter by more than the heads of files differ continues nothing', () => {
		const site = siteWith('refuse');
		store(site, storedInstance(2, 'x'.repeat(100)), '100');
		assert.deepEqual(store(site, storedInstance(2, 'y'), '100').instances, [{ kind: 'refused' }]);
	});

	test('that continues the stored one settles the conflict in which it was kept aside', () => {
		const site = siteWith('keep');
		const whole = storedInstance(1, 'first and more');
		site.set.of(imaging).addStoredKept('1.2.1.1', whole.digest, { id: 'k1', objectKey: 'aside', isSettled: false });
		store(site, compared(whole, true), '100');
		assert.deepEqual(site.set.of(imaging).settledConflicts, [{ conflictId: 'k1', as: 'stored', by: null }]);
	});

	test('that takes the place of another leaves that one as a settled conflict', () => {
		const site = siteWith('replace');
		store(site, storedInstance(1, 'other'), '100');
		const [conflict] = site.set.of(imaging).newConflicts;
		assert.deepEqual([conflict?.objectKey, conflict?.settlement], ['1.2.1.1/first', { as: 'replaced', by: null }]);
		assert.equal(site.set.of(imaging).replacements.get('1.2.1.1')?.isLastWord, true);
	});
});

describe('a person settles a conflict', () => {
	function disputed(): MemorySite {
		const site = siteWith('keep');
		store(site, compared(storedInstance(1, 'other')), '100');
		site.set.of(imaging).addStoredConflict('k1', { sopInstanceUid: '1.2.1.1', objectKey: '1.2.1.1/other', isSettled: false });
		return site;
	}

	const settle = (site: MemorySite, received?: StoredInstance, further: Partial<SettlementChange> = {}) => {
		const change: Change = { kind: 'settlement', conflictId: 'k1', by: 'cli:root', source: '', named: undefined, received, ...further };
		return site.apply({ changes: [change], flags: [] });
	};

	test('for what was stored: it stays, and the decision is in the audit trail', () => {
		const site = disputed();
		assert.deepEqual(settle(site).instances, []);
		assert.deepEqual([nameOf(site), site.set.of(imaging).conflict('k1')?.isSettled], ['first', true]);
		const [entry, ...others] = site.set.of(auditTrail).entries;
		assert.deepEqual(
			[entry?.action, entry?.subject, JSON.parse(entry?.detail ?? ''), others],
			['conflict.settle', 'k1', { sop_instance_uid: '1.2.1.1', keep: 'stored' }, []],
		);
	});

	test('for what was received: it becomes the instance, and has no last word on its study', () => {
		const site = disputed();
		assert.deepEqual(settle(site, storedInstance(1, 'other')).instances, [
			{ kind: 'replaced', superseded: '1.2.1.1/first', studyUid: '1.2' },
		]);
		assert.equal(nameOf(site), 'other');
		assert.equal(site.set.of(imaging).replacements.get('1.2.1.1')?.isLastWord, false);
		assert.deepEqual(site.set.of(imaging).newConflicts.at(-1)?.settlement, { as: 'superseded', by: 'cli:root' });
	});

	for (const [what, code, change] of [
		['a conflict that is not there', 'not-found', (site: MemorySite) => settle(site, undefined, { conflictId: 'k9' })],
		['for what was stored, twice', 'conflict', (site: MemorySite) => [settle(site), settle(site)]],
		['an object that is not that of the conflict', 'conflict', (site: MemorySite) => settle(site, storedInstance(1, 'third'))],
		[
			'an object of another instance',
			'conflict',
			(site: MemorySite) => settle(site, { ...storedInstance(2, 'other'), objectKey: '1.2.1.1/other' }),
		],
		[
			'for what was received, twice',
			'conflict',
			(site: MemorySite) => [settle(site, storedInstance(1, 'other')), settle(site, storedInstance(1, 'other'))],
		],
	] as const) {
		test(`${what}: is refused`, () => {
			assert.throws(
				() => change(disputed()),
				(error) => error instanceof Failure && error.code === code,
			);
		});
	}
});
