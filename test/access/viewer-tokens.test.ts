import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { beginToView, ViewerTokens } from '#access/viewer-tokens.ts';

const viewing = { siteId: 's', studyUid: '1.2.3', actor: 'ann@example.org', msMax: 60_000 };

/** A database that has one row for every token, and the statements that it was asked. */
function database(key = randomBytes(32)) {
	const asked: string[] = [];
	return {
		asked,
		rows: async <T>() => [{ cursor_key: key }] as T[],
		run: async ({ name }: { name: string }) => {
			asked.push(name);
			return [['s', 'north', '{}', '1.2.3', 'ann@example.org']];
		},
	};
}

describe('the token of a viewer', () => {
	test('is known to the network that made it, and is read from the database once in a while', async () => {
		const own = database();
		const { token } = await beginToView(own, viewing);
		assert.ok(ViewerTokens.isForm(token));
		let nowMs = 0;
		const tokens = new ViewerTokens(own, { nowMs: () => nowMs });
		for (const at of [0, 4999, 5000]) {
			nowMs = at;
			assert.equal((await tokens.grantOf(token))?.onlyStudy, '1.2.3');
		}
		assert.deepEqual(own.asked, ['begin_viewing', 'read_viewing', 'read_viewing']);
	});

	test('asks nothing of the database if nobody of the network made it', async () => {
		const own = database();
		const tokens = new ViewerTokens(own, { nowMs: () => 0 });
		const { token: foreign } = await beginToView(database(), viewing);
		for (const token of [foreign, `tv_${'A'.repeat(43)}`]) assert.equal(await tokens.grantOf(token), undefined);
		assert.deepEqual(own.asked, []);
	});
});
