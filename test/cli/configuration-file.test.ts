import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type Terminal, terminal } from '#test/support/terminal.ts';

/** A network with a thing of each kind. */
async function network(t: TestContext): Promise<Terminal> {
	const shell = await terminal(t);
	const { json } = shell;
	await json('site', 'add', 'west', '--name', 'West', '--ae-title', 'WEST', '--time-zone', 'Europe/Berlin');
	await json('site', 'add', 'east', '--name', 'East');
	await json('user', 'add', 'owner@example.org', '--site', 'west', '--site', 'east');
	await json('user', 'add', 'auditor@example.org', '--role', 'auditor', '--all-sites');
	const admission = ['--name', 'Admission', '--protocol', 'hl7-mllp', '--allow-ip', '192.0.2.10', '--also', 'A03'];
	await json('client', 'add', '--site', 'west', ...admission);
	await json('ae', 'add', '--site', 'west', '--title', 'ARCHIVE', '--host', 'archive.example.org', '--port', '104');
	await json('key', 'create', '--site', 'west', '--owner', 'owner@example.org', '--label', 'viewer', '--scope', 'read');
	const provider = ['--issuer', 'https://login.example.org', '--audience', 'tributary', '--client', 'app', '--label', 'sign-on'];
	await json('issuer', 'add', '--site', 'west', '--owner', 'owner@example.org', ...provider);
	await json('authority', 'add', '--site', 'west', '--system', 'WARD', '--other', '2.999.7');
	await json('notification', 'add', '--network', '--by', 'webhook', '--to', 'https://pager.example.org/alerts');
	await json('notification', 'add', '--site', 'west', '--by', 'email', '--to', 'duty@example.org');
	return shell;
}

/** Exports, lets the test change the file, and gives the name of the changed one. */
async function edited(shell: Terminal, edit: (document: ReturnType<typeof JSON.parse>) => void): Promise<string> {
	const document = await shell.json('config', 'export');
	edit(document);
	const file = join(shell.dataDir, 'network.json');
	writeFileSync(file, JSON.stringify(document));
	return file;
}

const state = (shell: Terminal) =>
	shell.rows(
		"select (select count(*)::int from audit_event) as events, (select version::int from access_version) as version, (select string_agg(name, ',' order by name) from integration_client) as clients",
	);

describe('the configuration as a file', () => {
	test('has everything by its name, in one order, without secrets; the variables are still printed by config alone', async (t) => {
		const shell = await network(t);
		const { out, code } = await shell.run('config', 'export');
		assert.equal(code, 0);
		const document = JSON.parse(out);
		assert.deepEqual(Object.keys(document), ['format', 'version', 'scope', 'notifications', 'sites', 'users']);
		assert.deepEqual(Object.keys(document.sites), ['east', 'west']);
		const { west } = document.sites;
		assert.deepEqual(west, {
			...{ name: 'West', ae_title: 'WEST', time_zone: 'Europe/Berlin', authorities: [['urn:id:WARD', 'urn:oid:2.999.7']] },
			clients: { Admission: { protocols: ['hl7-mllp'], allowed_ips: ['192.0.2.10'], also: ['A03'] } },
			remote_aes: { ARCHIVE: { host: 'archive.example.org', port: 104 } },
			keys: { viewer: { owner: 'owner@example.org', scopes: ['read'] } },
			issuers: { 'sign-on': { owner: 'owner@example.org', issuer: 'https://login.example.org', audience: 'tributary', clients: ['app'] } },
			notifications: { 'email duty@example.org': {} },
		});
		assert.deepEqual(document.users['auditor@example.org'], { role: 'auditor', all_sites: true });
		assert.doesNotMatch(out, /secret|password|[0-9a-f]{8}-[0-9a-f]{4}|_at"/);
		assert.equal((await shell.run('config', 'export')).out, out);
		const one = JSON.parse((await shell.run('config', 'export', '--site', 'east')).out);
		assert.deepEqual(one, { ...{ format: document.format, version: 1, scope: ['east'] }, sites: { east: { name: 'East' } } });
		assert.match((await shell.run('config')).out, /DATABASE_URL/);
		assert.match((await shell.run('help', 'config')).out, /every variable/);
	});

	test('is planned field by field without a trace, applied at once with an event for each change, and then nothing is left to do', async (t) => {
		const shell = await network(t);
		const same = await edited(shell, () => undefined);
		assert.equal((await shell.run('config', 'plan', '--file', same, '--prune')).code, 0);
		const file = await edited(shell, ({ sites: { west, east }, users }) => {
			west.time_zone = 'Europe/Paris';
			west.associations_max = 5;
			west.clients.Admission.allowed_ips = ['192.0.2.11'];
			west.clients.Admission.also = undefined;
			west.remote_aes.ARCHIVE.port = 11112;
			west.keys.viewer.scopes = ['read', 'imaging'];
			east.clients = { Laboratory: { protocols: ['hl7-mllp'], allowed_ips: ['198.51.100.0/24'], active: false } };
			east.keys = { portal: { owner: 'owner@example.org' } };
			users['new@example.org'] = { role: 'manager', sites: ['east'] };
			users['auditor@example.org'] = undefined;
		});
		const before = await state(shell);
		const { code, out } = await shell.run('config', 'plan', '--file', file);
		assert.equal(code, 3, out);
		for (const line of [
			/^~ site 'west'\n {4}time_zone: "Europe\/Berlin" -> "Europe\/Paris"\n {4}associations_max: 5$/m,
			/^~ client 'Admission' of 'west'\n {4}allowed_ips: \["192.0.2.10"\] -> \["192.0.2.11"\]\n {4}also: \["A03"\] -> unset$/m,
			/^\+ client 'Laboratory' of 'east'$/m,
			/^! key 'portal' of 'east' has to be created, .*key create --site east --owner owner@example.org --label 'portal'/m,
			/^ {2}user 'auditor@example.org' is not in the file, and stays$/m,
			/^! user 'new@example.org' needs a password: user reset-password new@example.org$/m,
			/^2 created, 4 changed, 0 removed$/m,
		])
			assert.match(out, line);
		assert.deepEqual(await state(shell), before);
		const plan = JSON.parse((await shell.run('config', 'plan', '--file', file, '--json')).out);
		const done = await shell.json('config', 'apply', '--file', file, '--prune', '--expect', plan.state);
		assert.deepEqual(
			done.changes.filter(({ action }: { action: string }) => action === 'remove').map(({ what }: { what: string }) => what),
			["user 'auditor@example.org'"],
		);
		const events = await shell.rows('select action from audit_event order by id desc limit 11');
		assert.deepEqual(
			events.map(({ action }) => action).sort(),
			[
				...[
					'ae.add',
					'ae.remove',
					'client.add',
					'client.set',
					'client.set',
					'config.apply',
					'key.set',
					'site.set',
					'user.add',
					'user.disable',
				],
				'notification.add',
			].sort(),
		);
		assert.deepEqual(
			(await shell.json('client', 'list')).map(({ name, active }: { name: string; active: boolean }) => [name, active]),
			[
				['Laboratory', false],
				['Admission', true],
			],
		);
		const again = await shell.json('config', 'apply', '--file', file, '--prune');
		assert.deepEqual([again.id, again.changes, again.state], [null, [], done.state_after]);
		assert.equal((await shell.run('config', 'plan', '--file', file, '--prune')).code, 0);
	});

	test('is applied whole or not at all, by the rules of the operations, and not onto another state than the planned one', async (t) => {
		const shell = await network(t);
		const file = await edited(shell, ({ sites: { west, east } }) => {
			west.name = 'West End';
			east.clients = { Twin: { protocols: ['hl7-mllp'], allowed_ips: ['192.0.2.0/24'] } };
		});
		const before = await state(shell);
		const plan = await shell.run('config', 'plan', '--file', file, '--json');
		assert.equal(plan.code, 1);
		const { refusal, state: planned } = JSON.parse(plan.out);
		assert.match(refusal, /'192.0.2.0\/24' and '192.0.2.10' of 'Admission' \(west\).*confirm_overlap/);
		const refused = await shell.run('config', 'apply', '--file', file);
		assert.deepEqual([refused.code, refused.err], [1, `tributary: ${refusal.replace(/\bconfirm_overlap\b/, '--confirm-overlap')}\n`]);
		assert.deepEqual(await state(shell), before);
		await shell.json('site', 'set', 'east', '--name', 'East End');
		const late = await shell.run('config', 'apply', '--file', file, '--confirm-overlap', '--expect', planned);
		assert.match(late.err, /somebody has changed something since the plan/);
		assert.equal((await shell.json('config', 'apply', '--file', file, '--confirm-overlap')).changes.length, 3);
		const wrong: [(document: ReturnType<typeof JSON.parse>) => void, RegExp][] = [
			[(document) => (document.version = 2), /reads version 1, not 2/],
			[(document) => (document.format = 'other'), /format is not 'tributary-configuration'/],
			[(document) => (document.sites.west.nmae = 'x'), /sites\.west has no member 'nmae'/],
			[(document) => (document.sites.west.clients.Admission.allowed_ips = ['nowhere']), /an allowed address is an IP address/],
			[(document) => (document.scope = ['west']), /the site 'east' is not in its scope/],
			[(document) => (document.sites.west.clients.Admission.allowed_ips = ['0.0.0.0/0']), /ALLOW_ANY_SOURCE is off/],
		];
		for (const [edit, reason] of wrong) {
			const { code, err } = await shell.run('config', 'apply', '--file', await edited(shell, edit));
			assert.deepEqual([code, reason.test(err)], [1, true], err);
		}
	});

	test('is rolled back: what an apply touched is as before, what others did stays, and what has changed since is not overwritten', async (t) => {
		const shell = await network(t);
		const first = await shell.run('config', 'export');
		const file = await edited(shell, ({ sites: { west, east } }) => {
			west.time_zone = 'Europe/Paris';
			west.clients = undefined;
			east.remote_aes = { PACS: { host: '192.0.2.77', port: 104, tls: true } };
			west.authorities = undefined;
			west.notifications = { 'webhook https://hooks.example.org/west': { severities: ['critical'] } };
		});
		const done = await shell.json('config', 'apply', '--file', file, '--prune');
		assert.equal(done.changes.length, 6);
		assert.deepEqual(
			done.secrets.map(({ of }: { of: string }) => of),
			["notification 'webhook https://hooks.example.org/west' of 'west'"],
		);
		assert.equal((await shell.run('config', 'before', done.id)).out, first.out);
		await shell.json('site', 'add', 'south', '--name', 'South');
		const undone = await shell.json('config', 'rollback');
		assert.equal(undone.changes.length, 6);
		assert.deepEqual(
			(await shell.json('site', 'list')).map(({ slug }: { slug: string }) => slug),
			['east', 'south', 'west'],
		);
		const { sites, ...rest } = JSON.parse((await shell.run('config', 'export')).out);
		const { south: _, ...others } = sites;
		assert.deepEqual({ ...rest, sites: others }, JSON.parse(first.out));
		const [{ rolls_back }, { rolled_back_by }] = await shell.json('config', 'history');
		assert.deepEqual([rolls_back, rolled_back_by], [done.id, undone.id]);
		assert.match((await shell.run('config', 'rollback', '--id', done.id)).err, /rolled back already/);
		const next = await shell.json('config', 'apply', '--file', file, '--prune', '--confirm-overlap');
		await shell.json('site', 'set', 'west', '--time-zone', 'Europe/Rome');
		assert.match((await shell.run('config', 'rollback', '--id', next.id)).err, /site 'west' has been changed since that apply/);
	});

	test('goes from one network to another by names', async (t) => {
		const [from, to] = [await network(t), await terminal(t)];
		const file = join(from.dataDir, 'promoted.json');
		writeFileSync(file, (await from.run('config', 'export')).out);
		const done = await to.json('config', 'apply', '--file', file, '--prune');
		assert.deepEqual(
			done.to_do.map((text: string) => text.split(':')[0]),
			[
				"key 'viewer' of 'west' has to be created, because a file has no secrets",
				"user 'auditor@example.org' needs a password",
				"user 'owner@example.org' needs a password",
			],
		);
		await to.json('key', 'create', '--site', 'west', '--owner', 'owner@example.org', '--label', 'viewer');
		await to.json('config', 'apply', '--file', file, '--prune');
		assert.equal((await to.run('config', 'export')).out, readFileSync(file, 'utf8'));
	});
});
