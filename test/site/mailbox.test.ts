import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nilId } from '#core/id.ts';
import { type Letter, Mailbox } from '#site/mailbox.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { delivery } from './letters.ts';

const letter = (name: string, bytes = 1): Letter => ({
	delivery: delivery(name, bytes),
	enqueuedAtMs: 0,
	crashesAlone: 0,
	resolve: () => undefined,
	reject: () => undefined,
});

function mailboxOf(...names: string[]): Mailbox {
	const mailbox = new Mailbox('a');
	for (const name of names) mailbox.push(letter(name));
	return mailbox;
}

function taken(mailbox: Mailbox, count = mailbox.length): string[] {
	return Array.from({ length: count }, () => mailbox.shift()?.delivery.id ?? 'none');
}

describe('a mailbox', () => {
	test('is first in, first out', () => {
		assert.deepEqual(taken(mailboxOf('a1', 'a2', 'a3')), ['a1', 'a2', 'a3']);
	});

	test('without letters has nothing oldest and gives nothing', () => {
		const mailbox = mailboxOf();
		assert.deepEqual([mailbox.length, mailbox.bytes, mailbox.oldest, mailbox.shift(), mailbox.takeAll()], [0, 0, undefined, undefined, []]);
	});

	test('shows its oldest letter without giving it away', () => {
		const mailbox = mailboxOf('a1', 'a2');
		assert.equal(mailbox.oldest?.delivery.id, 'a1');
		mailbox.shift();
		assert.deepEqual([mailbox.oldest?.delivery.id, mailbox.length], ['a2', 1]);
	});

	test('counts the bytes of what waits in it', () => {
		const mailbox = new Mailbox('a');
		mailbox.push(letter('a1', 10));
		mailbox.push(letter('a2', 5));
		const first = mailbox.shift();
		assert.equal(mailbox.bytes, 5);
		assert.ok(first);
		mailbox.unshift([first]);
		assert.equal(mailbox.bytes, 15);
		mailbox.takeAll();
		assert.equal(mailbox.bytes, 0);
	});

	test('counts what waits of each sender: its client, or its key', () => {
		const of = (name: string, clientId: string, source: string) => {
			const one = letter(name, 10);
			return { ...one, delivery: { ...one.delivery, clientId, source } };
		};
		const mailbox = new Mailbox('a');
		for (const one of [of('a1', 'client', '192.0.2.1'), of('a2', nilId, 'key1'), of('a3', 'client', '192.0.2.2')]) mailbox.push(one);
		assert.deepEqual(mailbox.of('client'), { messages: 2, bytes: 20 });
		assert.deepEqual(mailbox.of('key1'), { messages: 1, bytes: 10 });
		assert.equal(mailbox.of('192.0.2.1'), undefined);
		const first = mailbox.shift();
		assert.deepEqual(mailbox.of('client'), { messages: 1, bytes: 10 });
		mailbox.unshift(first === undefined ? [] : [first]);
		assert.deepEqual(mailbox.of('client'), { messages: 2, bytes: 20 });
		mailbox.takeAll();
		assert.equal(mailbox.of('client'), undefined);
		for (let sender = 0; sender < 1000; sender++) {
			mailbox.push(of('a4', `client ${sender}`, ''));
			mailbox.shift();
		}
		assert.ok(Array.from({ length: 1000 }, (_, sender) => mailbox.of(`client ${sender}`)).filter(Boolean).length < 100);
	});

	test('takes letters back before those that came later', () => {
		const mailbox = mailboxOf('a1', 'a2', 'a3', 'a4');
		const batch = [mailbox.shift(), mailbox.shift()].filter((one) => one !== undefined);
		mailbox.push(letter('a5'));
		mailbox.unshift(batch);
		assert.deepEqual(taken(mailbox), ['a1', 'a2', 'a3', 'a4', 'a5']);
	});

	test('is empty when all was taken, and is filled again', () => {
		const mailbox = mailboxOf('a1', 'a2');
		mailbox.shift();
		assert.deepEqual(
			mailbox.takeAll().map((one) => one.delivery.id),
			['a2'],
		);
		mailbox.push(letter('a3'));
		assert.deepEqual([mailbox.length, ...taken(mailbox)], [1, 'a3']);
	});

	test('keeps the order over many more letters than it gives back room for at a time', () => {
		const names = Array.from({ length: 5000 }, (_, index) => `a${index}`);
		const mailbox = mailboxOf(...names);
		assert.deepEqual(taken(mailbox, 3000), names.slice(0, 3000));
		mailbox.push(letter('a5000'));
		assert.deepEqual(taken(mailbox), [...names.slice(3000), 'a5000']);
	});

	test('is a list, whatever is done to it in whatever order', () => {
		const operations = fc.array(fc.constantFrom('push', 'push', 'shift', 'putBack', 'takeAll'), { maxLength: 200 });
		fc.assert(
			fc.property(operations, (steps) => {
				const mailbox = new Mailbox('a');
				const list: Letter[] = [];
				for (const [index, step] of steps.entries()) {
					if (step === 'push') {
						const next = letter(`a${index}`, index % 7);
						mailbox.push(next);
						list.push(next);
					} else if (step === 'shift') assert.equal(mailbox.shift(), list.shift());
					else if (step === 'takeAll') assert.deepEqual(mailbox.takeAll(), list.splice(0));
					else {
						const batch = [mailbox.shift(), mailbox.shift()].filter((one) => one !== undefined);
						mailbox.unshift(batch);
					}
					assert.equal(mailbox.oldest, list[0]);
					assert.equal(mailbox.length, list.length);
					assert.equal(
						mailbox.bytes,
						list.reduce((sum, one) => sum + one.delivery.bytes.length, 0),
					);
				}
			}),
			{ numRuns: runs(200) },
		);
	});
});
