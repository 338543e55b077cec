import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import type { OperationContext } from '#administration/context.ts';
import { inputOfTexts, membersOf } from '#administration/members.ts';
import { defineOperation, type Operation } from '#administration/operation.ts';
import { operations } from '#administration/operations/index.ts';
import { perform } from '#administration/perform.ts';
import { addSite } from '#administration/sites.ts';
import { newId, nilId } from '#core/id.ts';
import { type TestAdministration, testAdministration } from '#test/support/administration.ts';

const message = 'MSH|^~\\&|LAB|WEST|||20260301||ADT^A08|M1|P|2.5.1\rEVN||20260301\rPID|||4711^^^WEST||Muster^Mia\rPV1||O\r';

let administration: TestAdministration;
let context: OperationContext;
let messageId: string;

function operation(name: string): Operation {
	return operations.find((each) => each.name === name) ?? assert.fail(`there is no operation '${name}'`);
}

/** Texts of the statements that were carried out, by way of the pool, by that of entities and as reads. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
	const texts: string[] = [];
	const { database, reader } = context;
	const { borrow } = database;
	const { run } = reader;
	database.borrow = async () => {
		const { client, release } = await borrow.call(database);
		const query = client.query.bind(client) as (...given: unknown[]) => unknown;
		const counted = Object.assign(Object.create(client), {
			query: (given: string | { text: string }, ...more: unknown[]) => {
				texts.push(typeof given === 'string' ? given : given.text);
				return query(given, ...more);
			},
		});
		return { client: counted, release };
	};
	reader.run = (statement, values) => {
		texts.push(statement.text);
		return run.call(reader, statement, values);
	};
	try {
		await work();
	} finally {
		database.borrow = borrow;
		reader.run = run;
	}
	return texts;
}

before(async () => {
	administration = await testAdministration();
	context = administration.context;
	const site = await addSite(context, { slug: 'west', name: 'West' });
	await addSite(context, { slug: 'east', name: 'East' });
	messageId = newId();
	await context.deliver({
		kind: 'hl7v2',
		id: messageId,
		siteId: site.id,
		clientId: nilId,
		surface: 'mllp',
		source: '127.0.0.1',
		receivedAtMs: context.nowMs(),
		bytes: Buffer.from(message),
		settings: {},
	});
});

after(() => administration[Symbol.asyncDispose]());

describe('the connections of what people ask', () => {
	const backends = async () =>
		(
			await administration.rows<{ pid: number }>(
				"select pid from pg_stat_activity where datname = current_database() and application_name in ('tributary administration', 'tributary read') order by pid",
			)
		).map(({ pid }) => pid);

	test('are the same ones click after click', async () => {
		const click = async () => {
			await perform(operation('messages show'), context, { id: messageId });
			await perform(operation('messages read'), context, { id: messageId });
			await perform(operation('messages replay'), context, { id: messageId });
			await perform(operation('messages list'), context, { site: 'west' });
			await perform(operation('site show'), context, { slug: 'west' });
		};
		await click();
		const before = await backends();
		for (let times = 0; times < 5; times++) await click();
		assert.deepEqual(await backends(), before);
	});

	test('are no more than the limit when many click at once, and nobody is refused', async () => {
		const clicks = Array.from({ length: 40 }, (_, index) =>
			index % 4 === 0
				? perform(operation('site set'), context, { slug: 'west', name: `West ${index}` })
				: perform(operation('messages show'), context, { id: messageId }),
		);
		await Promise.all(clicks);
		const pool = (
			await administration.rows<{ open: number }>(
				"select count(*)::int as open from pg_stat_activity where datname = current_database() and application_name = 'tributary administration'",
			)
		)[0];
		assert.ok(pool && pool.open <= context.limits.peopleConnectionsMax, `${pool?.open} connections`);
	});
});

describe('an object that an input names', () => {
	test('is read once: what was found to learn its site is what is shown', async () => {
		const reads = (texts: readonly string[]) => texts.filter((text) => /\bfrom message_log\b/.test(text) && /m\.bytes\b/.test(text)).length;
		for (const name of ['messages show', 'messages read', 'messages replay']) {
			const texts = await statementsOf(() => perform(operation(name), context, { id: messageId }));
			assert.equal(reads(texts), 1, `${name}: ${texts.join('\n---\n')}`);
		}
	});

	test('of a foreign site is looked up, and not shown: nothing is carried out', async () => {
		const actor = { name: 'owner@example.org', role: 'manager' as const, sites: ['east'] };
		for (const name of ['messages show', 'messages replay']) {
			const asked = () => perform(operation(name), { ...context, actor }, { id: messageId });
			const texts = await statementsOf(() => assert.rejects(asked, { message: `there is no message '${messageId}'`, fault: 'not-found' }));
			assert.equal(texts.length, 1, name);
		}
	});

	test('is handed to what runs, with the type that the operation found', async () => {
		const given: unknown[] = [];
		const row = defineOperation({
			name: 'thing show',
			summary: 'shows a thing',
			method: 'GET',
			path: '/things/{id}',
			role: 'auditor',
			scope: 'object',
			called: 'thing',
			find: async (_context, { id }: { id: string }) => (id === 'one' ? { site: 'west', found: { name: 'One' } } : null),
			input: z.strictObject({ id: z.string() }),
			output: z.strictObject({ name: z.string() }),
			commandLine: 'none',
			run: async (_context, _input, found) => {
				given.push(found);
				return { name: found.name };
			},
		});
		assert.deepEqual(await perform(row, context, { id: 'one' }), { name: 'One' });
		await assert.rejects(perform(row, context, { id: 'two' }), { message: "there is no thing 'two'" });
		assert.deepEqual(given, [{ name: 'One' }]);
	});
});

describe('the members of an input', () => {
	test('are read off the schema once', () => {
		const listing = operation('messages list');
		assert.equal(membersOf(listing), membersOf(listing));
		assert.deepEqual(inputOfTexts(listing, [['site', 'west']]), { site: 'west' });
	});
});
