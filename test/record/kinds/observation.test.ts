import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { keyDigest } from '#record/key-digest.ts';
import type { Change } from '#record/kinds/index.ts';
import type { ObservationChange } from '#record/kinds/observation.ts';
import { observationChange, patientChange } from '#test/support/change-sets.ts';
import { MemorySite } from '#test/support/memory-site.ts';

const oru = (site: MemorySite, ...changes: Change[]) => site.apply({ changes: [patientChange('100', {}, 'keep'), ...changes], flags: [] });

function result(item: string, further: Partial<ObservationChange> = {}): Change {
	return { ...(observationChange('O1', item, `value of ${item}`) as ObservationChange), ...further };
}

const values = (site: MemorySite) => site.resources('Observation').map(({ valueString, status }) => [valueString, status]);

describe('an observation', () => {
	test('of an order is corrected by the next message about the item, as a new version', () => {
		const site = new MemorySite();
		oru(site, result('GLU'), result('NA'));
		oru(site, result('GLU', { resource: { status: 'corrected', valueString: '2' } }));
		assert.deepEqual(values(site), [
			['2', 'corrected'],
			['value of NA', 'final'],
		]);
		assert.deepEqual(
			site.rows('Observation').map(({ version }) => version),
			[2, 1],
		);
	});

	test('that says the same again is no new version', () => {
		const site = new MemorySite();
		oru(site, result('GLU'));
		assert.deepEqual(oru(site, result('GLU')).changed, []);
	});

	test('that comes twice in a message is one version, of what came last', () => {
		const site = new MemorySite();
		oru(site, result('GLU'), result('GLU', { resource: { status: 'final', valueString: '2' } }));
		assert.deepEqual([values(site), site.rows('Observation')[0]?.version], [[['2', 'final']], 1]);
	});

	test('of no order is new with every message', () => {
		const site = new MemorySite();
		const { order: _order, ...without } = result('GLU') as ObservationChange;
		for (let time = 0; time < 2; time++) oru(site, without);
		assert.equal(site.rows('Observation').length, 2);
	});

	for (const [what, resource, expected] of [
		['a withdrawal', { status: 'entered-in-error' }, { status: 'entered-in-error', valueString: 'value of GLU' }],
		[
			'a status that has no code',
			{ status: 'final', _status: { extension: [{ url: 'u' }] } },
			{ status: 'final', _status: { extension: [{ url: 'u' }] }, valueString: 'value of GLU' },
		],
	] as [string, JsonObject, JsonObject][]) {
		test(`keeps its value when ${what} comes without one`, () => {
			const site = new MemorySite();
			oru(site, result('GLU'));
			oru(site, result('GLU', { resource, statusOnly: true }));
			const [{ code: _code, subject: _subject, ...told } = {}] = site.resources('Observation');
			assert.deepEqual(told, expected);
		});
	}

	test('that is not known is created by a status without a value', () => {
		const site = new MemorySite();
		oru(site, result('GLU', { resource: { status: 'cancelled' }, statusOnly: true }));
		assert.deepEqual(values(site), [[undefined, 'cancelled']]);
	});

	test('lists its members before they are applied, and those that came with an earlier message', () => {
		const site = new MemorySite();
		oru(site, result('NA'));
		oru(site, result('PANEL', { members: ['NA', 'K'] }), result('K'));
		const ids = Object.fromEntries(site.rows('Observation').map(({ id, links }) => [links['item_key'], `Observation/${id}`]));
		const panel = site.resources('Observation').find(({ hasMember }) => hasMember !== undefined);
		assert.deepEqual(panel?.['hasMember'], [{ reference: ids[keyDigest('NA')] }, { reference: ids[keyDigest('K')] }]);
	});

	test('of an order of another patient is refused, and the message leaves no trace', () => {
		const site = new MemorySite();
		oru(site, result('GLU'));
		const before = site.all();
		const foreign = { changes: [patientChange('200', {}, 'keep'), result('NA')], flags: [] };
		assert.throws(
			() => site.apply(foreign),
			(error) => error instanceof Failure && error.code === 'key-conflict',
		);
		assert.deepEqual(site.all(), before);
	});
});
