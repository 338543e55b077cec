import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conditionOf, satisfies } from '#administration/message-content.ts';
import { readMessage } from '#administration/reading/read-message.ts';
import { Message } from '#hl7v2/message.ts';
import { wire } from '#test/support/hl7v2.ts';
import { searched, searchedMeanwhile } from '#test/support/searched.ts';
import { defaultLimits } from '../../src/limits.ts';

const count = 9000;
const header = 'MSH|^~\\&|APP|FAC|TO|THERE|20260102||ORU^R01^ORU_R01|C1|P|2.5.1';
const value = Array.from({ length: count }, (_, index) => `v${index}&b^second`).join('~');
const bytes = wire(header, `NTE|1|L|${value}`);
const unhurried = { goesOn: () => Promise.resolve(true) };
const ask = (words: string, work = unhurried) => satisfies(Message.parse(bytes).segments, conditionOf(words), work);

/** Five delimiters, some searched again after reading backwards; the same for any number of repetitions. */
const passesMax = 16;

describe('a field with thousands of repetitions', () => {
	test('is looked into with work that grows with it, not with its square', async () => {
		for (const [words, holds] of [
			[`NTE-3=v${count - 1}&b^second`, true],
			['NTE-3.2=nowhere', false],
			['NTE-3!~nowhere', true],
			[`NTE-3~v${count - 1}`, true],
		] as const) {
			const work = await searchedMeanwhile(async () => assert.equal(await ask(words), holds, words));
			assert.ok(work.calls < passesMax * count, `${words}: ${work.calls} searches`);
			assert.ok(work.characters < passesMax * value.length, `${words}: ${work.characters} characters`);
		}
	});

	test('is shown with work that grows with it, not with its square', () => {
		const work = searched(() => assert.equal(readMessage(bytes, defaultLimits).format, 'hl7v2'));
		assert.ok(work.calls < passesMax * count, `${work.calls} searches`);
		assert.ok(work.characters < passesMax * value.length, `${work.characters} characters`);
	});

	test('gives way to others, and is left when its time is over', async () => {
		let asked = 0;
		const counted = {
			goesOn: () => {
				asked++;
				return Promise.resolve(true);
			},
		};
		assert.equal(await ask('NTE-3=nowhere', counted), false);
		assert.ok(asked > 30, `${asked} times`);
		const over = { goesOn: () => Promise.resolve(false) };
		assert.equal(await ask('NTE-3=nowhere', over), undefined);
		assert.equal(await ask('NTE-3=v0', over), true);
	});
});
