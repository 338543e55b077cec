import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { operations } from '#administration/operations/index.ts';
import { byOptions } from '#cli/operation-command.ts';
import { withWest } from '#test/support/terminal.ts';

describe('a refusal on the command line', () => {
	test('names the option that answers it as the command has it', async (t) => {
		const { run, json } = await withWest(t);
		await json('site', 'add', 'east', '--name', 'East');
		const client = (site: string) => [
			'client',
			'add',
			'--site',
			site,
			'--name',
			'LIS',
			'--protocol',
			'hl7-mllp',
			'--allow-ip',
			'192.0.2.1',
		];
		assert.deepEqual((await run(...client('east'))).err, '');
		const { code, err } = await run(...client('west'));
		assert.equal(code, 1);
		assert.match(err, /equal ones are refused\. --confirm-overlap confirms it\n$/);
		assert.equal((await run(...client('west'), '--confirm-overlap')).code, 0);
	});

	test('leaves alone what is no option of the command', () => {
		const replay = operations.find(({ name }) => name === 'messages replay');
		assert.ok(replay);
		assert.equal(byOptions(replay, 'Replay it with accept_older if this is meant'), 'Replay it with --accept-older if this is meant');
		assert.equal(
			byOptions(replay, "the id 'x_accept_older', confirm_overlap, --accept-older"),
			"the id 'x_accept_older', confirm_overlap, --accept-older",
		);
	});
});
