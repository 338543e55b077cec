import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { identityDoubts } from '#record/holdings/identity-doubts.ts';
import { siteAuthorities } from '#record/holdings/site-authorities.ts';
import { Authorities, type AuthorityAlias } from '#record/identity/authorities.ts';
import type { StatedAuthority } from '#record/identity/learn.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import { MemorySite } from '#test/support/memory-site.ts';

const hosp = 'urn:id:HOSP';
const oid = 'urn:oid:1.2.3.4';
const stated = { name: hosp, universal: oid };

function send(site: MemorySite, system: string, value: string, ...authorities: StatedAuthority[]) {
	const identifiers: PatientChange['identifiers'] = [{ system, value }];
	const patch = { elements: {}, parts: { identifier: { 'PID-3': identifiers } } };
	const change: PatientChange = { kind: 'patient', ref: 0, identifiers, patch, known: 'update', sequence: 1 };
	return site.apply({ changes: [authorities.length === 0 ? change : { ...change, authorities }], flags: [] });
}

const patients = (site: MemorySite) => site.resources('Patient').map(({ identifier }) => identifier);
const aliases = (site: MemorySite) => site.set.of(siteAuthorities).known.aliases.map(({ other, holds }) => `${other} ${holds}`);

describe('authorities with several names', () => {
	test('are one along every chain of aliases that hold', () => {
		const alias = (system: string, other: string, holds = true): AuthorityAlias => ({ system, other, holds, origin: 'person' });
		const all = [alias('d', 'e'), alias('a', 'b'), alias('c', 'd'), alias('b', 'c'), alias('x', 'a', false)];
		for (const list of [all, all.toReversed()]) {
			const authorities = new Authorities(list);
			for (const one of 'abcde') for (const other of 'abcde') assert.ok(authorities.isSame(one, other), one + other);
			assert.equal(authorities.isSame('x', 'a'), false);
			assert.ok(authorities.isSame('q', 'q'));
			assert.equal(
				authorities.alias('e', 'd'),
				list.find(({ system }) => system === 'd'),
			);
		}
		const ended = new Authorities(all).with(alias('c', 'd', false));
		assert.deepEqual([ended.isSame('a', 'c'), ended.isSame('d', 'e'), ended.isSame('a', 'e')], [true, true, false]);
	});

	test('are learned from an identifier that states both, and make one patient of later messages', () => {
		const site = new MemorySite();
		send(site, oid, 'L2', stated);
		send(site, hosp, 'L2');
		send(site, oid, 'L2');
		assert.deepEqual(patients(site), [[{ system: oid, value: 'L2' }]], 'as it was stated first');
		assert.deepEqual(aliases(site), [`${oid} true`]);
	});

	test('are not learned where a name is too long for an index', () => {
		const site = new MemorySite();
		send(site, oid, 'L2', { name: `urn:id:${'x'.repeat(600)}`, universal: oid });
		send(site, oid, 'L3', { name: hosp, universal: `urn:oid:${'1.2'.repeat(900)}` });
		assert.deepEqual([site.rows('Patient').length, aliases(site)], [2, []]);
	});

	test('are learned before the message itself is matched', () => {
		const site = new MemorySite();
		send(site, hosp, 'L2');
		send(site, oid, 'L2', stated);
		assert.equal(site.rows('Patient').length, 1);
	});

	test('that made two patients before are listed, and each message stays with the patient of its own words', () => {
		const site = new MemorySite();
		send(site, hosp, 'L2');
		send(site, oid, 'L2');
		for (const system of [oid, hosp]) {
			const { flags } = send(site, system, 'L2', stated);
			assert.deepEqual(
				flags.map(({ code }) => code),
				['identifiers-disagree'],
			);
		}
		assert.deepEqual(patients(site), [[{ system: hosp, value: 'L2' }], [{ system: oid, value: 'L2' }]]);
		assert.deepEqual(
			[...site.set.of(identityDoubts).recorded.values()].map(({ kind, count }) => [kind, count]),
			[['number-shared', 2]],
		);
	});

	test('of which one name means two are used no more, and listed', () => {
		const site = new MemorySite();
		send(site, oid, '1', stated);
		send(site, 'urn:oid:9', '2', { name: hosp, universal: 'urn:oid:9' });
		assert.deepEqual(aliases(site), [`${oid} false`, 'urn:oid:9 false']);
		send(site, hosp, '1');
		send(site, oid, '1', stated);
		assert.equal(site.rows('Patient').length, 3, 'what has ended is not learned again');
		assert.deepEqual(
			[...site.set.of(identityDoubts).recorded.values()].map(({ kind, count }) => [kind, count]),
			[['authority-meanings', 1]],
		);
	});

	test('of a message that is refused are not learned', () => {
		const site = new MemorySite();
		assert.throws(() =>
			site.set.attempt(() => {
				send(site, oid, '1', stated);
				throw new Error('refused');
			}),
		);
		assert.deepEqual(aliases(site), []);
	});
});
