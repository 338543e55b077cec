import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultOf, definitionOf, noSettings, readSettings, settingFault, settingNames, settingOf } from '#record/settings/settings.ts';

describe('the table of settings', () => {
	for (const name of settingNames) {
		test(`${name} has a holder, a meaning, and a default and an example that it takes itself`, () => {
			const definition = definitionOf(name);
			assert.ok(definition.of.length > 0 && definition.label !== '' && definition.meaning !== '');
			assert.match(name, /^[a-z]+(_[a-z]+)*$/);
			const fallback = defaultOf(name);
			if (fallback !== undefined) assert.equal(settingFault(name, fallback), undefined);
			if ('placeholder' in definition) {
				const { kind, placeholder } = definition;
				assert.equal(settingFault(name, kind === 'list' ? placeholder.split(',') : placeholder), undefined);
			}
		});
	}

	test('values of another type, unknown words and values that are too long are at fault, by a rule', () => {
		const wrong: [Parameters<typeof settingFault>[0], unknown, RegExp][] = [
			['default_authority', 'HOSP', /is a URI/],
			['default_authority', 7, /text/],
			['default_authority', `urn:id:${'x'.repeat(250)}`, /at most 250 characters/],
			['ack_mode', 'loud', /original or enhanced/],
			['ack_mode', 'toString', /original or enhanced/],
			['also', 'A03', /list/],
			['also', ['A3'], /a letter and two digits/],
			['also', Array.from({ length: 201 }, () => 'A03'), /at most 200 items/],
			['ignore', ['ORM^O1'], /ORM\^O01/],
			['update_creates', 'on', /true or false/],
		];
		for (const [name, value, fault] of wrong) assert.match(settingFault(name, value) ?? '', fault, name);
		assert.equal(settingFault('ignore', ['A60', 'ORM^O01']), undefined);
	});
});

describe('stored settings', () => {
	test('are read without the names and values that this release does not know', () => {
		const stored = { also: ['A03'], ignore: ['?'], ack_mode: 'loud', hat: 'red', toString: 'x', default_authority: 'urn:oid:1' };
		assert.deepEqual(readSettings(stored), { also: ['A03'], default_authority: 'urn:oid:1' });
	});

	test('are frozen, and one object when there are none', () => {
		assert.ok(Object.isFrozen(readSettings({ also: ['A03'] })));
		for (const none of [{}, null, undefined, 'also', { hat: 'red' }]) assert.equal(readSettings(none), noSettings);
	});

	test('give the default where they have no value', () => {
		assert.deepEqual([settingOf(noSettings, 'also'), settingOf({ also: ['A03'] }, 'also')], [[], ['A03']]);
		assert.deepEqual([settingOf(noSettings, 'update_creates'), settingOf({ update_creates: false }, 'update_creates')], [true, false]);
	});
});
