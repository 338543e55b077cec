import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { auditTrail } from '#record/holdings/audit-trail.ts';
import { imaging } from '#record/holdings/imaging.ts';
import type { InstancePolicy } from '#record/imaging.ts';
import type { StoredInstance } from '#record/instance.ts';
import type { Change } from '#record/kinds/index.ts';
import type { SettlementChange } from '#record/kinds/settlement.ts';
import { patientChange } from '#test/support/change-sets.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { storedInstance } from '#test/support/stored-instance.ts';

function store(site: MemorySite, instance: StoredInstance, patient?: string) {
	const named: Change[] = patient === undefined ? [] : [patientChange(patient, {}, 'keep')];
	const changes: Change[] = [...named, { kind: 'instance', patient: patient === undefined ? undefined : 0, instance }];
	return site.apply({ changes, flags: [] });
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

	test('of another patient than its study has is stored and flagged', () => {
		const site = siteWith('keep');
		const { flags, instances } = store(site, storedInstance(2, 'second'), '200');
		assert.deepEqual([flags.map(({ code }) => code), instances], [['other-patient'], [{ kind: 'stored' }]]);
	});

	for (const [what, policy, instance, outcome, named] of [
		['the same content again', 'keep', { ...storedInstance(1, 'first'), objectKey: 'again' }, { kind: 'duplicate' }, 'first'],
		['the row of a batch that was repeated', 'refuse', storedInstance(1, 'first'), { kind: 'stored' }, 'first'],
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
			{ kind: 'replaced', superseded: '1.2.1.1/first' },
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
			assert.deepEqual(store(site, compared(whole, true), '100').instances, [{ kind: 'replaced', superseded: '1.2.1.1/first' }]);
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
		const change: Change = { kind: 'settlement', conflictId: 'k1', by: 'cli:root', source: '', patient: undefined, received, ...further };
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
		assert.deepEqual(settle(site, storedInstance(1, 'other')).instances, [{ kind: 'replaced', superseded: '1.2.1.1/first' }]);
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
