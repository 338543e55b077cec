import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { verifyAudit } from '#administration/audit-verify.ts';
import { setSite, showSite } from '#administration/sites.ts';
import { staysBehind } from '#storage/moving/moved-tables.ts';
import { adt } from '#test/support/adt.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { sendAll } from '#test/support/mllp-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { acceptedMessages, Door, moveByCommand, sender } from '#test/support/site-moves.ts';
import { digestOf, siteTables } from '#test/support/site-tables.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';

let here: TestService;
let there: TestService;
let objects: string;

before(async () => {
	objects = mkdtempSync(join(tmpdir(), 'tributary-moved-objects-'));
	here = await testService();
	there = await testService({ OBJECT_STORE_URL: `file:${objects}` });
});

after(async () => {
	await here?.[Symbol.asyncDispose]();
	await there?.[Symbol.asyncDispose]();
	rmSync(objects, { recursive: true, force: true });
});

/** Moves a site by the command line of the first installation. */
const move = (slug: string, further: readonly string[] = [], said?: (line: string) => void) =>
	moveByCommand({ here, there }, slug, further, said);

/** Ends the connections of a move to the other database, as the end of the machine that carries it out would. */
const cutOff = () =>
	there.rows(
		`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'tributary move'`,
	);

/** Writes numbered patients, each again until it is stored. Only "later" is an answer that may come in between. */
async function writer(door: { to: TestService }, key: string, isOver: () => boolean): Promise<number> {
	for (let number = 0; ; number++) {
		if (isOver()) return number;
		for (;;) {
			const call = fhirClient(door.to, key);
			const { status } = await call('PUT', `/Patient/w${number}`, { resourceType: 'Patient', id: `w${number}`, active: true });
			if (status === 201) break;
			assert.ok(status === 503 || status === 200, `a write was answered ${status}`);
			if (status === 200) break;
			await pause(20);
		}
	}
}

describe('site move', () => {
	test('while messages come: what was acknowledged is there once and in order, also when it is cut off and repeated', async () => {
		const { siteId, key, called } = await addImagingSite(here, 'north');
		await setSite(here.administration, { slug: 'north', update_creates: true });
		const scu = await StorageScu.open(here.port('dimse'), { called });
		assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.1' }))).status, 0);
		await scu.release();
		const door = new Door();
		const port = await door.open(here.port('mllp'));
		const led = { to: here };
		let isOver = false;
		const over = () => isOver;
		const sending = Promise.all([sender(port, 'one', over), sender(port, 'two', over), writer(led, key, over)]);
		const store = ['--objects-to', `file:${objects}`];
		try {
			await eventually(async () => (await acceptedMessages(here, siteId)).length > 10, 'messages come');
			const cut = await move('north', store, (line) => void (line.startsWith('switch') && cutOff()));
			assert.equal(cut.code, 1);
			assert.match(cut.err, /the site goes on here, and the move may be repeated/);
			const before = (await acceptedMessages(here, siteId)).length;
			await eventually(async () => (await acceptedMessages(here, siteId)).length > before + 5, 'the site goes on');
			const { code, out, err } = await move('north', store);
			assert.deepEqual([code, /password|postgres:\/\//.test(out + err)], [0, false], err);
			door.turn(there.port('mllp'));
			led.to = there;
			const moved = (await acceptedMessages(there, siteId)).length;
			await eventually(async () => (await acceptedMessages(there, siteId)).length > moved + 10, 'messages come to the other installation');
		} finally {
			isOver = true;
		}
		const [one, two, written] = await sending;
		door.close();
		const logged = await acceptedMessages(there, siteId);
		for (const [name, count] of [
			['one', one],
			['two', two],
		] as const) {
			const own = logged.filter((id) => id.startsWith(`${name}-`));
			assert.deepEqual(
				own,
				Array.from({ length: count }, (_, number) => `${name}-${number}`),
			);
			const [row] = await there.rows<{ version: number; name: string }>(
				'select p.version, p.name from patient p join patient_identifier i on i.site_id = p.site_id and i.patient_id = p.id where i.site_id = $1 and i.value = $2',
				[siteId, name],
			);
			assert.equal(row?.version, count);
		}
		const call = fhirClient(there, key);
		for (let number = 0; number < written; number++) assert.equal((await call('GET', `/Patient/w${number}`)).status, 200);
		const image = await StorageScu.open(there.port('dimse'), { called });
		assert.equal((await image.store(ctInstance({ sopInstanceUid: '1.2.1' }))).status, 0, 'it is known there');
		await image.release();
		assert.equal((await there.rows('select 1 from imaging_instance where site_id = $1', [siteId])).length, 1);
		for (const service of [here, there]) assert.equal((await verifyAudit(service.administration, { known: [] })).holds, true);
		assert.equal((await there.rows("select 1 from audit_event where action = 'site.arrive'")).length, 1);
		// The first installation says where the site is, and takes nothing.
		const refused = await fhirClient(here, key)('GET', '/Patient/w0');
		assert.equal(refused.status, 503);
		assert.match(refused.text, /was moved to the database .*test_/);
		await assert.rejects(StorageScu.open(here.port('dimse'), { called }), /answered with PDU 3/);
		assert.equal((await showSite(here.administration, 'north')).move?.state, 'left');
		await assert.rejects(setSite(here.administration, { slug: 'north', name: 'Other' }), /was moved to the database/);
	});

	test('a quiet site is equal, row by row; a copy that was cut off goes on, and one that is not wanted is removed', async () => {
		const { site } = await here.addSite('east', { allowed_ips: ['127.0.0.1'], sending_application: 'EAST' });
		const message = (number: number) => adt(`e${number}`, `E${number}`, number).replace('|ADT|', '|EAST|');
		assert.deepEqual(await sendAll(here, message(1), message(2), message(3)), ['AA', 'AA', 'AA']);
		const known = await siteTables(here);
		assert.deepEqual(
			Object.keys(staysBehind).filter((name) => !known.includes(name)),
			[],
		);
		const holding = new pg.Client({ connectionString: there.databaseUrl });
		await holding.connect();
		await holding.query('begin');
		await holding.query('lock table patient in access exclusive mode');
		const cut = move('east');
		await eventually(
			async () =>
				(
					await there.rows(
						`select 1 from pg_stat_activity where datname = current_database() and application_name = 'tributary move' and wait_event_type = 'Lock'`,
					)
				).length > 0,
			'the move waits for the table',
		);
		await cutOff();
		await holding.query('rollback');
		await holding.end();
		assert.equal((await cut).code, 1);
		assert.deepEqual(await sendAll(here, message(4)), ['AA']);
		const abandoned = await move('east', ['--abandon']);
		assert.equal(abandoned.code, 0, abandoned.err);
		for (const table of (await siteTables(there)).filter((name) => name !== 'audit_event'))
			assert.equal(await digestOf(there, `${table} where site_id = $1`, [site.id]), '0 0', table);
		assert.deepEqual(await there.rows('select 1 from site where id = $1', [site.id]), []);
		assert.equal((await showSite(here.administration, 'east')).move, null);
		assert.deepEqual(await sendAll(here, message(5)), ['AA']);
		const { code, err } = await move('east');
		assert.equal(code, 0, err);
		// Accounts have other ids there, and what is counted behind the answers goes on.
		const others = ['api_key', 'site_member', 'search_entry', 'search_progress', 'feed_hour', ...Object.keys(staysBehind)];
		for (const table of (await siteTables(here)).filter((name) => !others.includes(name)))
			assert.equal(
				await digestOf(there, `${table} where site_id = $1`, [site.id]),
				await digestOf(here, `${table} where site_id = $1`, [site.id]),
				table,
			);
		// A message that is sent again is known there.
		assert.deepEqual(await sendAll(there, message(5), message(6)), ['AA', 'AA']);
		const [counted] = await there.rows<{ count: string }>("select count(*) from message_log where site_id = $1 and outcome = 'accepted'", [
			site.id,
		]);
		assert.equal(counted?.count, '6');
		assert.match((await move('east')).err, /serves the site already/);
		assert.match((await move('east', ['--abandon'])).err, /nothing of it is removed/);
	});

	test('what is in the way is said before anything is copied', async () => {
		const { called } = await addImagingSite(here, 'south');
		await there.addSite('south', { allowed_ips: ['10.9.9.9'] });
		const scu = await StorageScu.open(here.port('dimse'), { called });
		assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.3.1' }))).status, 0);
		await scu.release();
		const { code, out } = await move('south', ['--check']);
		const { refused, tables } = JSON.parse(out);
		assert.equal(code, 1);
		assert.match(refused.join('\n'), /the target has another site 'south'/);
		assert.match(refused.join('\n'), /name the object store of the target with --objects-to/);
		assert.ok(tables.some(({ table, rows }: { table: string; rows: number }) => table === 'imaging_instance' && rows === 1));
		assert.match((await move('south')).err, /the site is not moved: /);
		assert.equal((await there.rows('select 1 from site where move_state is not null')).length, 0);
		assert.match((await move('south', ['--to', here.databaseUrl])).err, /the database of the site itself/);
		assert.match((await move('nowhere')).err, /there is no site 'nowhere'/);
		assert.equal((await move('south', ['--to', 'mysql://x/y'])).code, 2);
		assert.equal((await move('south', ['--objects-to', `file:${here.dataDir}/objects`])).code, 2);
	});

	test('while a site is closed its senders wait on every surface and reads go on; it opens by itself', async () => {
		const { siteId, key, called } = await addImagingSite(here, 'west');
		const call = fhirClient(here, key);
		assert.equal((await call('PUT', '/Patient/x1', { resourceType: 'Patient', id: 'x1' })).status, 201);
		await here.rows("update site set closed_until = now() + interval '1 hour' where id = $1", [siteId]);
		await eventually(async () => (await call('PUT', '/Patient/x2', { resourceType: 'Patient', id: 'x2' })).status === 503, 'writes wait');
		assert.equal((await call('GET', '/Patient/x1')).status, 200);
		const scu = await StorageScu.open(here.port('dimse'), { called });
		assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.4.1' }))).status, 0xa700);
		await scu.release();
		await assert.rejects(setSite(here.administration, { slug: 'west', name: 'Other' }), /is being moved; try again later/);
		await here.rows('update site set closed_until = now() where id = $1', [siteId]);
		await eventually(async () => (await call('PUT', '/Patient/x2', { resourceType: 'Patient', id: 'x2' })).status < 300, 'it opens');
		// Whoever has not heard of it cannot write either, and the message is none that is refused for good.
		await here.rows("update site_turn set closed_until = now() + interval '1 hour' where site_id = $1", [siteId]);
		const waiting = call('PUT', '/Patient/x3', { resourceType: 'Patient', id: 'x3' });
		await eventually(
			async () => (await here.rows('select 1 from patient where site_id = $1', [siteId])).length === 2,
			'nothing is written',
		);
		await here.rows('update site_turn set closed_until = null where site_id = $1', [siteId]);
		const { status } = await waiting;
		assert.ok(status === 201 || status === 503, `answered ${status}`);
	});
});
