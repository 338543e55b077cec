import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { createKey } from '#administration/keys.ts';
import { showSite } from '#administration/sites.ts';
import { addUser } from '#administration/users.ts';
import { adt } from '#test/support/adt.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { sendAll } from '#test/support/mllp-client.ts';
import { S3Server } from '#test/support/s3-server.ts';
import { secondNode } from '#test/support/second-node.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { acceptedMessages, moveByCommand, sender } from '#test/support/site-moves.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';

const checkout = join(import.meta.dirname, '../..');

describe('a site that moves', () => {
	const buckets = new S3Server();
	let variables: Record<string, string>;
	let here: TestService;
	let there: TestService;
	const store = `s3://${buckets.bucket}/there`;

	before(async () => {
		variables = { ...(await buckets.variables()), OBJECT_STORE_ATTEMPTS_MAX: '10' };
		here = await testService({ ...variables, OBJECT_STORE_URL: `s3://${buckets.bucket}/here`, PROCESSES: '1' });
		there = await testService({ ...variables, OBJECT_STORE_URL: store, PROCESSES: '1' });
	});
	after(async () => {
		await here?.[Symbol.asyncDispose]();
		await there?.[Symbol.asyncDispose]();
		await buckets[Symbol.asyncDispose]();
	});

	/** Begins a move in a process of its own, as from a shell. */
	function begun(slug: string): { child: ChildProcess; told(): string } {
		let told = '';
		const env = {
			...{ ...process.env, ...variables },
			...{ OBJECT_STORE_URL: `s3://${buckets.bucket}/here`, DATABASE_URL: here.databaseUrl, DATA_DIR: here.dataDir },
		};
		const argv = ['src/start.mjs', 'site', 'move', slug, '--to', there.databaseUrl, '--objects-to', store];
		const child = spawn(process.execPath, argv, { cwd: checkout, env, stdio: ['ignore', 'pipe', 'pipe'] });
		for (const stream of [child.stdout, child.stderr])
			stream.on('data', (chunk) => {
				told += chunk;
			});
		return { child, told: () => told };
	}

	const ended = (child: ChildProcess) =>
		child.exitCode ??
		child.signalCode ??
		new Promise<number | NodeJS.Signals | null>((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)));

	test('from a bucket to another one is served by neither while it is lost between leaving and arriving, and arrives when the move is repeated', async () => {
		const { siteId, key, called } = await addImagingSite(here, 'north');
		const scu = await StorageScu.open(here.port('dimse'), { called });
		for (const number of [1, 2, 3]) assert.equal((await scu.store(ctInstance({ sopInstanceUid: `1.2.${number}` }))).status, 0);
		await scu.release();
		assert.deepEqual(await sendAll(here, adt('n1', 'N', 1), adt('n2', 'N', 2)), ['AA', 'AA']);
		// The turn of the site is the first thing that is written when it arrives.
		const holding = new pg.Client({ connectionString: there.databaseUrl });
		await holding.connect();
		await holding.query('begin; lock table site_turn in share row exclusive mode');
		const first = begun('north');
		await eventually(async () => (await showSite(here.administration, 'north')).move?.state === 'left', 'the site leaves');
		first.child.kill('SIGKILL');
		assert.equal(await ended(first.child), 'SIGKILL');
		await holding.query('rollback');
		await holding.end();
		await eventually(async () => (await fhirClient(here, key)('GET', '/Patient')).status === 503, 'the site is not served where it was');
		assert.equal((await showSite(there.administration, 'north')).move?.state, 'arriving');
		assert.notEqual((await fhirClient(there, key)('GET', '/Patient')).status, 200);
		const second = begun('north');
		assert.equal(await ended(second.child), 0, second.told());
		assert.equal((await showSite(there.administration, 'north')).move, null);
		assert.deepEqual(await sendAll(there, adt('n2', 'N', 2), adt('n3', 'N', 3)), ['AA', 'AA']);
		assert.deepEqual(await acceptedMessages(there, siteId), ['n1', 'n2', 'n3']);
		assert.equal((await there.rows('select 1 from imaging_instance where site_id = $1', [siteId])).length, 3);
		const got = await fhirClient(there, key)('GET', '/ImagingStudy');
		assert.equal(got.status, 200);
		assert.equal([...buckets.objects.keys()].filter((name) => name.startsWith('there/') && name.endsWith('.dcm')).length, 3);
	});

	test('goes on where it was when it was not kept closed all the time', async () => {
		const { site } = await here.addSite('east', { allowed_ips: ['127.0.0.2'], sending_application: 'EAST' });
		// The lease of the turn ends as soon as it is taken, as on a machine that stood still for longer than the lease.
		await here.rows(`create function lease_ends() returns trigger language plpgsql as $$
			begin
				if new.closed_until < 'infinity' then new.closed_until := clock_timestamp(); end if;
				return new;
			end $$`);
		await here.rows('create trigger lease_ends before insert or update on site_turn for each row execute function lease_ends()');
		const failed = await moveByCommand({ here, there }, 'east');
		assert.equal(failed.code, 1);
		assert.match(failed.err, /could not be kept closed.*the site goes on here, and the move may be repeated/);
		assert.equal((await showSite(here.administration, 'east')).move?.state, 'leaving');
		assert.equal((await showSite(there.administration, 'east')).move?.state, 'arriving');
		await here.rows('drop trigger lease_ends on site_turn');
		const { code, err } = await moveByCommand({ here, there }, 'east');
		assert.equal(code, 0, err);
		assert.equal((await there.rows('select 1 from site where id = $1 and active', [site.id])).length, 1);
	});

	test('gives the keys of somebody who has no account there to the account that is named', async () => {
		const { key: mine } = await here.addSite('south', { allowed_ips: ['127.0.0.3'] });
		const owner = await addUser(here.administration, { email: 'gone@example.org', admin: true, sites: [] });
		const { key } = await createKey(here.administration, { site: 'south', owner: owner.email, label: 'viewer' });
		const refused = await moveByCommand({ here, there }, 'south');
		assert.equal(refused.code, 1);
		assert.match(refused.err, /no account of these owners of API keys or issuers: gone@example\.org/);
		assert.match(
			(await moveByCommand({ here, there }, 'south', ['--owner', 'nobody@example.org'])).err,
			/no account 'nobody@example\.org'/,
		);
		await addUser(there.administration, { email: 'heir@example.org', admin: true, sites: [] });
		const { code, err } = await moveByCommand({ here, there }, 'south', ['--owner', 'heir@example.org']);
		assert.equal(code, 0, err);
		for (const each of [mine, key]) assert.equal((await fhirClient(there, each)('GET', '/Patient')).status, 200);
		const owners = await there.rows<{ email: string }>(
			`select u.email from api_key k join site s on s.id = k.site_id and s.slug = 'south' join app_user u on u.id = k.owner_id order by u.email`,
		);
		assert.deepEqual(
			owners.map(({ email }) => email),
			['heir@example.org', 'owner@example.org'],
		);
	});

	test('is let go by every node of its database', async (t) => {
		const { site, key } = await here.addSite('west', { allowed_ips: ['127.0.0.1'], sending_application: 'WEST' });
		const other = await secondNode({
			...variables,
			...{ OBJECT_STORE_URL: `s3://${buckets.bucket}/here`, DATABASE_URL: here.databaseUrl },
		});
		t.after(() => other.close());
		let isOver = false;
		const names = ['one', 'two', 'three', 'four'];
		const portOf = (index: number) => (index % 2 === 0 ? here.port('mllp') : Number(other.surfaces['mllp']?.port));
		const sending = Promise.all(names.map((name, index) => sender(portOf(index), name, () => isOver, 'WEST')));
		try {
			await eventually(async () => (await acceptedMessages(here, site.id)).length > 30, 'messages come');
			const { code, err } = await moveByCommand({ here, there }, 'west');
			assert.equal(code, 0, err);
			for (const port of [here.port('fhir'), other.surfaces['fhir']?.port]) {
				const answer = await fetch(`http://127.0.0.1:${port}/fhir/Patient`, { headers: { 'X-API-Key': key } });
				assert.equal(answer.status, 503);
				await answer.body?.cancel();
			}
		} finally {
			isOver = true;
		}
		const counts = await sending;
		const moved = await acceptedMessages(there, site.id);
		assert.deepEqual(await acceptedMessages(here, site.id), moved, 'nothing was taken behind the switch');
		for (const [index, name] of names.entries()) {
			const own = moved.filter((id) => id.startsWith(`${name}-`));
			assert.deepEqual(
				own,
				own.map((_, number) => `${name}-${number}`),
			);
			const count = counts[index] ?? 0;
			// The last one may have been taken without its sender hearing of it.
			assert.ok(own.length === count || own.length === count + 1, `${name}: ${own.length} of ${count}`);
		}
	});
});
