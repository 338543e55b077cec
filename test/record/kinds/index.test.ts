import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { applyChangeSet, isAppliedAlone, nameKeys, needsLookup, patientsOf } from '#record/apply/apply.ts';
import { SiteKeys } from '#record/apply/site-keys.ts';
import { patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { type Change, changeKinds, kindOf } from '#record/kinds/index.ts';
import type { ResourceChange } from '#record/kinds/resource.ts';
import { documentChange, identifier, itemChange, mergeChange, observationChange, patientChange } from '#test/support/change-sets.ts';
import { MemorySite } from '#test/support/memory-site.ts';

const unlink: Change = { kind: 'unlink', first: [identifier('100')], second: [identifier('200')] };
const identity: Change = {
	kind: 'identity',
	edit: { operation: 'merge', survivor: 'p1', prior: 'p2', identifiers: [], actor: 'cli:root' },
};
const plain: ResourceChange = {
	...{ kind: 'resource', resourceType: 'Procedure', interaction: 'update', id: 'x1', fullUrl: undefined, condition: undefined },
	...{ references: [], ifMatch: undefined, ifNoneMatch: false, mayCreate: true, checkReferences: false, patients: [] },
	compose: () => assert.fail('it is not composed here'),
};
const condition = { criteria: 'code=a', plan: {} as never, matched: undefined };

describe('the table of kinds of change', () => {
	test('has a row for each file or folder, and each row a name of its own', () => {
		const files = globSync('src/record/kinds/{*.ts,*/}').filter((path) => !path.endsWith('index.ts'));
		assert.equal(files.length, changeKinds.length);
		assert.equal(new Set(changeKinds.map(({ kind }) => kind)).size, changeKinds.length);
		for (const kind of changeKinds) assert.equal(kindOf({ kind: kind.kind } as Change), kind);
	});

	test('refuses a kind that it does not have', () => {
		assert.throws(() => kindOf({ kind: 'unheard of' } as never), /unheard of/);
	});

	for (const [what, changes, alone] of [
		['a visit to a patient', [patientChange('100'), itemChange('i', '2020')], false],
		['a result', [patientChange('100'), observationChange('O1', 'K', '1')], false],
		['a merge', [patientChange('100'), mergeChange(0, '200')], true],
		['an unlink', [unlink], true],
		['what a person decides about identity', [identity], true],
		['a document', [patientChange('100'), documentChange('d', 1, [])], true],
		['a resource', [plain], false],
	] as [string, Change[], boolean][]) {
		test(`${what} is ${alone ? '' : 'not '}applied alone`, () => assert.equal(isAppliedAlone({ changes, flags: [] }), alone));
	}

	for (const [what, change, expected] of [
		['an update by id', plain, false],
		['a conditional update', { ...plain, condition }, true],
		['a reference by search', { ...plain, references: [condition] }, true],
		['a patch', { ...plain, interaction: 'patch' }, true],
		['an observation', observationChange('O1', 'K', '1'), false],
	] as [string, Change, boolean][]) {
		test(`${what} ${expected ? 'has' : 'does not have'} to be looked up in its turn`, () => {
			assert.equal(needsLookup({ changes: [change], flags: [] }), expected);
		});
	}

	for (const [what, changes, expected] of [
		['a patient', [patientChange('100'), observationChange('O1', 'K', '1')], ['100']],
		['a merge, survivor first', [patientChange('100'), mergeChange(0, '200')], ['100', '200']],
		['an unlink', [unlink], ['100', '200']],
		['a resource', [plain], []],
	] as [string, Change[], string[]][]) {
		test(`the message log finds ${what} by ${expected.join(' and ') || 'nobody'}`, () => {
			assert.deepEqual(patientsOf({ changes, flags: [] }), expected);
		});
	}

	test('a change that names a patient whom its message does not is a bug', () => {
		const { changes } = { changes: [itemChange('i', '2020', 4)] };
		assert.throws(() => nameKeys({ changes, flags: [] }, new SiteKeys()), /its message does not/);
		assert.throws(() => new MemorySite().apply({ changes: [observationChange('O1', 'K', '1', 4)], flags: [] }), /comes after it/);
	});

	test('resources are applied together or not at all', () => {
		for (const changes of [
			[plain, patientChange('100')],
			[patientChange('100'), plain],
		]) {
			const site = new MemorySite();
			assert.throws(() => site.apply({ changes, flags: [] }), /mixes|together/);
			assert.deepEqual(site.all(), []);
		}
	});

	test('a message without changes does nothing', () => {
		const site = new MemorySite();
		const keys = new SiteKeys();
		nameKeys({ changes: [], flags: [] }, keys);
		assert.deepEqual([keys.named(patientIdentifiers), keys.ids.size], [undefined, 0]);
		applyChangeSet(site.apply({ changes: [], flags: [] }), { changes: [], flags: [] });
		assert.deepEqual(site.all(), []);
	});
});
