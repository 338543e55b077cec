import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { newId, nilId } from '#core/id.ts';
import { removeRuntimeFile, writeRuntimeFile } from '#storage/runtime-file.ts';
import { firstIdOf } from '#storage/statements/administrative/search-messages.ts';
import { testDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/eventually.ts';
import { administer } from '#test/support/template.ts';
import { type Terminal, terminal, withWest } from '#test/support/terminal.ts';

describe('JSON that scripts rely on', () => {
	test('ae add, list, echo and remove', async (t) => {
		const { json, run } = await withWest(t);
		const place = ['--site', 'west', '--title', 'ARCHIVE', '--host', 'archive', '--port', '104'];
		const added = await json('ae', 'add', ...place, '--tls');
		const { id, created_at } = added;
		assert.deepEqual(added, { id, site: 'west', title: 'ARCHIVE', host: 'archive', port: 104, tls: true, created_at });
		assert.deepEqual(await json('ae', 'list', '--site', 'west'), [added]);
		assert.match((await run('ae', 'add', ...place)).err, /already has a remote AE 'ARCHIVE'/);
		assert.deepEqual(await json('ae', 'remove', 'ARCHIVE', '--site', 'west'), added);
		const nobody = await json('ae', 'add', '--site', 'west', '--title', 'NOBODY', '--host', '127.0.0.1', '--port', '1');
		const { duration_ms: duration, ...echoed } = await json('ae', 'echo', 'NOBODY', '--site', 'west');
		const { created_at: _, ...target } = nobody;
		const reason = 'NOBODY cannot be reached: ECONNREFUSED';
		assert.deepEqual(echoed, { ...target, calling_ae: 'WEST', outcome: 'unreachable', status: null, reason });
		assert.equal(typeof duration, 'number');
		assert.deepEqual((await json('ae', 'remove', nobody.id)).title, 'NOBODY');
		assert.deepEqual(await json('ae', 'list'), []);
	});

	test('site add, show and list', async (t) => {
		const { json, run } = await terminal(t);
		const site = await json('site', 'add', 'west', '--name', 'West', '--ae-title', 'WEST');
		assert.deepEqual({ slug: site.slug, name: site.name, ae_title: site.ae_title }, { slug: 'west', name: 'West', ae_title: 'WEST' });
		assert.match(site.id, /^[0-9a-f-]{36}$/);
		assert.deepEqual(await json('site', 'show', 'west'), site);
		const { settings, ...listed } = site;
		assert.equal(listed.move, null);
		assert.deepEqual(settings.instance_policy, { value: 'keep', from: 'default' });
		assert.deepEqual(await json('site', 'list'), [listed]);
		assert.equal((await json('site', 'set', 'west', '--ae-title', '')).ae_title, null);
		assert.equal((await json('site', 'disable', 'west')).active, false);
		assert.equal((await json('site', 'enable', 'west')).active, true);
		const { out } = await run('site', 'show', 'west', '--json');
		assert.equal(out.split('\n').length, 2, 'one document on one line');
	});

	test('user add, list, disable and reset-password', async (t) => {
		const { json } = await withWest(t);
		const user = await json('user', 'add', 'Admin@example.org', '--admin');
		assert.deepEqual([user.email, user.admin, user.sites], ['admin@example.org', true, []]);
		assert.deepEqual(
			(await json('user', 'list')).map(({ email, sites }: { email: string; sites: string[] }) => [email, sites]),
			[
				['admin@example.org', []],
				['owner@example.org', ['west']],
			],
		);
		assert.deepEqual(Object.keys(await json('user', 'reset-password', 'admin@example.org')), ['email', 'password']);
		assert.equal((await json('user', 'disable', 'admin@example.org')).active, false);
	});

	test('key create, list and revoke', async (t) => {
		const { json } = await withWest(t);
		const created = await json('key', 'create', '--site', 'west', '--owner', 'owner@example.org', '--label', 'reader');
		assert.deepEqual(Object.keys(created), ['id', 'key', 'site', 'owner', 'label']);
		assert.match(created.key, /^trb_[a-z2-7]{12}_[\w-]{43}$/);
		const [listed, ...others] = await json('key', 'list', '--site', 'west');
		assert.deepEqual(others, []);
		assert.deepEqual(Object.keys(listed), ['id', 'prefix', 'site', 'owner', 'label', 'created_at', 'last_used_at', 'revoked_at']);
		assert.ok(!JSON.stringify(listed).includes(created.key));
		assert.ok((await json('key', 'revoke', created.id)).revoked_at);
	});

	test('client add, list, show, set, disable and remove', async (t) => {
		const { json } = await withWest(t);
		const added = await json(
			...['client', 'add', '--site', 'west', '--name', 'Admission', '--protocol', 'hl7-mllp', '--protocol', 'dicom'],
			...['--allow-ip', '10.0.0.1', '--allow-ip', '10.1.0.0/16,2001:db8::/32', '--sending-application', 'ADT', '--sending-facility', 'W'],
			...'--calling-ae MODALITY --ack-mode enhanced --also A03,A11 --also A13 --ignore A60 --ignore ORM^O01 --allow query'.split(' '),
		);
		const { settings, ...listed } = added;
		assert.deepEqual(settings.also, { value: ['A03', 'A11', 'A13'], from: 'client' });
		assert.deepEqual(listed, {
			id: added.id,
			site: 'west',
			name: 'Admission',
			protocols: ['hl7-mllp', 'dicom'],
			allowed_ips: ['10.0.0.1', '10.1.0.0/16', '2001:db8::/32'],
			sending_application: 'ADT',
			sending_facility: 'W',
			calling_ae: 'MODALITY',
			ack_mode: 'enhanced',
			also: ['A03', 'A11', 'A13'],
			ignore: ['A60', 'ORM^O01'],
			grants: ['query'],
			active: true,
		});
		assert.deepEqual(await json('client', 'list'), [listed]);
		assert.deepEqual(await json('client', 'list', '--site', 'east'), []);
		assert.deepEqual(await json('client', 'show', added.id), added);
		const changed = { ...listed, also: [], sending_facility: null };
		const shown = await json('client', 'set', added.id, '--also', '', '--sending-facility', '');
		assert.deepEqual(shown, { ...changed, settings: { ...settings, also: { value: [], from: 'default' } } });
		assert.deepEqual(await json('client', 'disable', added.id), { ...shown, active: false });
		assert.deepEqual(await json('client', 'remove', added.id), { ...changed, active: false });
		assert.deepEqual(await json('client', 'list'), []);
	});

	test('status names the surfaces of the running service', async (t) => {
		const { json, run, dataDir } = await terminal(t);
		const none = await run('status');
		assert.deepEqual([none.code, none.out], [1, '']);
		assert.match(none.err, /^tributary: no service is running on /);
		const surfaces = { fhir: { host: '127.0.0.1', port: 8080, tls: false }, mllp: { host: '127.0.0.1', port: 3000, tls: false } };
		writeRuntimeFile(dataDir, {
			pid: process.pid,
			version: '1.2.3',
			httpServer: 'uWebSockets.js 20',
			databaseUrl: 'postgresql://unused',
			surfaces,
		});
		const status = await json('status');
		assert.deepEqual(status, {
			version: '1.2.3',
			node: process.versions.node,
			http_server: 'uWebSockets.js 20',
			database: 'external',
			surfaces,
		});
		assert.match((await run('status')).out, /^Tributary 1\.2\.3, .*external/);
		removeRuntimeFile(dataDir);
	});

	test('doctor names the active sites without a time zone, and the zone that is assumed for them', async (t) => {
		const { json, run } = await withWest(t);
		await json('site', 'add', 'east', '--name', 'East');
		await json('site', 'add', 'north', '--name', 'North', '--time-zone', 'Europe/Berlin');
		const assumed = Intl.DateTimeFormat().resolvedOptions().timeZone;
		const { sites_without_time_zone: sites, assumed_time_zone: zone } = JSON.parse((await run('doctor', '--json')).out);
		assert.deepEqual([sites, zone], [['east', 'west'], assumed]);
		assert.match((await run('doctor')).out, /^warning +time zones +east, west have none, so /m);
		await json('site', 'set', 'west', '--time-zone', 'America/New_York');
		await json('site', 'disable', 'east');
		const report = await json('doctor', '--objects');
		assert.deepEqual([report.rows_without_objects, report.assumed_time_zone, report.sites_without_time_zone], [0, assumed, []]);
		assert.match((await run('doctor')).out, /^ok +time zones +every active site has one$/m);
	});

	test('config, migrate and --version', async (t) => {
		const { json, run } = await terminal(t, { FHIR_PORT: '9000' });
		const rows = await json('config');
		assert.deepEqual(
			rows.find(({ variable }: { variable: string }) => variable === 'FHIR_PORT'),
			{ variable: 'FHIR_PORT', value: '9000', default: '8080', meaning: 'FHIR R4 API' },
		);
		assert.deepEqual(await json('migrate'), { applied: [], newer: [] });
		assert.match((await run('config', '--markdown')).out, /^# Configuration\n/);
		assert.deepEqual(await run('--version'), { code: 0, out: '9.9.9\n', err: '' });
		assert.deepEqual(await json('version'), { version: '9.9.9', node: process.versions.node });
		assert.equal((await run('version')).out, `Tributary 9.9.9, Node.js ${process.versions.node}\n`);
	});
});

describe('the message log', () => {
	const insert = `insert into message_log (site_id, id, sequence, surface, kind, client_id, source, received_at, committed_at, message_type, control_id,
		outcome, failure_code, failure, bytes, ack) select id, $2, $3, 'mllp', 'hl7v2', $4, '10.0.0.1', $5, $5, 'ADT^A08', $6, $7, $8, $9, $10, $11 from site where slug = $1`;

	async function withMessages(t: TestContext): Promise<{ shell: Terminal; ids: string[] }> {
		const shell = await withWest(t);
		const ids: string[] = [];
		for (const [index, outcome] of ['accepted', 'refused', 'refused'].entries()) {
			const at = `2026-03-01T10:00:0${index}Z`;
			const id = firstIdOf(Date.parse(at)).replace('-0000-0000-', '-7000-8000-');
			ids.push(id);
			const refused = outcome === 'refused';
			const failure = refused ? ['required', 'PID-3 has no identifier'] : [null, null];
			const bytes = [Buffer.from(`MSH|^~\\&|ADT\rPID|${index}\r`), Buffer.from(`MSH|^~\\&\rMSA|${refused ? 'AE' : 'AA'}|M${index}\r`)];
			await shell.rows(insert, ['west', id, index + 1, nilId, at, `M${index}`, outcome, ...failure, ...bytes]);
		}
		return { shell, ids };
	}

	test('is listed newest first, by outcome and control id, page by page', async (t) => {
		const { shell, ids } = await withMessages(t);
		const listed = async (...filters: string[]) =>
			(await shell.json('messages', 'list', ...filters)).map(({ id }: { id: string }) => ids.indexOf(id));
		assert.deepEqual(await listed(), [2, 1, 0]);
		assert.deepEqual(await listed('--site', 'west', '--outcome', 'refused'), [2, 1]);
		assert.deepEqual(await listed('--control-id', 'M1'), [1]);
		assert.deepEqual(await listed('--type', 'ORU^R01'), []);
		assert.deepEqual(await listed('--since', '2026-03-01T10:00:01Z', '--until', '2026-03-01T10:00:02Z'), [1]);
		assert.deepEqual(await listed('--limit', '2'), [2, 1]);
		assert.deepEqual(await listed('--before', ids[1] ?? ''), [0]);
		assert.deepEqual(await listed('--unmatched'), []);
	});

	test('is followed: what comes while the command runs is printed once, until the process is told to end', async (t) => {
		const { shell } = await withMessages(t);
		const come = (controlId: string, outcome: string) => {
			const bytes = [Buffer.from('MSH|'), Buffer.from('')];
			return shell.rows(insert, ['west', newId(), 9, nilId, new Date().toISOString(), controlId, outcome, null, null, ...bytes]);
		};
		const [listeners, printed] = [process.listeners('SIGINT'), () => shell.printed.split('\n').slice(0, -1)];
		const end = () => process.listeners('SIGINT').find((listener) => !listeners.includes(listener))?.('SIGINT');
		const following = shell.run('messages', 'tail', '--since', '2026-03-01', '--outcome', 'refused', '--json');
		await eventually(() => printed().length === 2, 'what had come before');
		for (const [index, controlId] of ['Late', 'Later'].entries()) {
			await come(`${controlId} accepted`, 'accepted');
			await come(controlId, 'refused');
			await eventually(() => printed().length === 3 + index, controlId);
		}
		end();
		const { code, out, err } = await following;
		assert.deepEqual([code, err], [0, '']);
		const shown = out.trim().split('\n');
		assert.deepEqual(
			shown.map((line) => JSON.parse(line).control_id),
			['M1', 'M2', 'Late', 'Later'],
		);
		const plain = shell.run('messages', 'tail', '--outcome', 'accepted');
		await eventually(() => printed().length === 2, 'the lines');
		end();
		assert.match((await plain).out, /^\S+Z {2}west {2}ADT\^A08 {3}accepted {2}10\.0\.0\.1 {2}mllp {2}Late accepted\n.*Later accepted\n$/);
		assert.deepEqual(process.listeners('SIGINT'), listeners, 'nothing is left behind');
	});

	test('shows a message by its segments, with its acknowledgement and its failure', async (t) => {
		const { shell, ids } = await withMessages(t);
		const shown = await shell.json('messages', 'show', ids[1] ?? '');
		assert.deepEqual(shown.message, ['MSH|^~\\&|ADT', 'PID|1']);
		assert.deepEqual(shown.ack, ['MSH|^~\\&', 'MSA|AE|M1']);
		assert.deepEqual([shown.site, shown.outcome, shown.failure_code], ['west', 'refused', 'required']);
		assert.equal(shown.failure, 'PID-3 has no identifier');
	});

	test('is replayed by id in the order given, or all that a site refused, oldest first', async (t) => {
		const { shell, ids } = await withMessages(t);
		const replayed = async (...argv: string[]) => {
			shell.delivered.length = 0;
			const records = await shell.json('messages', 'replay', ...argv);
			assert.deepEqual(
				records.map((record: { replay_of: string }) => record.replay_of),
				shell.delivered.map(({ replayOf }) => replayOf),
			);
			return shell.delivered.map(({ replayOf }) => ids.indexOf(replayOf ?? ''));
		};
		assert.deepEqual(await replayed(ids[2] ?? '', ids[0] ?? ''), [2, 0]);
		assert.deepEqual(await replayed('--refused', '--site', 'west'), [1, 2]);
		assert.equal(Buffer.from(shell.delivered[0]?.bytes ?? []).toString(), 'MSH|^~\\&|ADT\rPID|1\r');
		assert.equal(shell.delivered[0]?.surface, 'replay');
	});

	test('of a message that is not there is refused', async (t) => {
		const { run } = await withWest(t);
		for (const id of ['x', newId()]) {
			for (const verb of ['show', 'replay']) {
				const { code, out, err } = await run('messages', verb, id, '--json');
				assert.deepEqual([code, out, err], [1, '', `tributary: there is no message '${id}'\n`]);
			}
		}
	});
});

describe('exit codes', () => {
	test('2 for wrong usage, which names what is wrong', async (t) => {
		const { run } = await withWest(t);
		const wrong: [string[], RegExp][] = [
			[['fly'], /there is no command 'fly'/],
			[['site'], /'site' needs one of: (?:\w+, )*add, list, show, set, disable, enable/],
			[['site', 'fly'], /'site' needs one of:/],
			[['site', 'add'], /usage: tributary site add <slug>/],
			[['site', 'add', 'a', 'b', '--name', 'x'], /usage: tributary site add/],
			[['site', 'add', 'east'], /--name is required/],
			[['site', 'list', '--colour', 'red'], /--colour/],
			[['site', 'add', 'east', '--name'], /--name/],
			[['key', 'create', '--site', 'west'], /--owner is required/],
			[['messages', 'list', '--outcome', 'lost'], /--outcome must be accepted or refused or ignored or duplicate/],
			[
				['client', 'add', '--site', 'w', '--name', 'x', '--allow-ip', '10.0.0.1', '--protocol', 'ftp'],
				/--protocol must be hl7-mllp or dicom/,
			],
			[['site', 'add', 'West', '--name', 'x'], /<slug>: a slug has/],
			[['site', 'set', 'west', '--waiting-max', 'abc'], /--waiting-max must be a number\n/],
			[['site', 'set', 'west', '--waiting-max', '1000001'], /--waiting-max must be at most 1000000\n/],
			[['user', 'add', 'nobody'], /<email> must be an e-mail address\n/],
			[['messages', 'list', '--limit', '0'], /--limit must be at least 1\n/],
			[['messages', 'list', '--since', 'yesterday'], /--since must be a time such as 2026-01-31T10:00:00Z or a day such as 2026-01-31\n/],
			[['client', 'add', '--site', 'west', '--name', 'x', '--allow-ip', '10.1', '--protocol', 'hl7-mllp'], /--allow-ip: /],
			[['client', 'set', newId(), '--also', 'ORM^O01'], /--also: an event is a letter and two digits/],
			[['clients', 'list'], /there is no command 'clients'; did you mean 'client list'\?/],
			[['list', 'clients'], /did you mean 'client list'\?/],
			[['site', 'lst'], /'site' needs one of: .*; did you mean 'site list'\?/],
			[['stauts'], /did you mean 'status'\?/],
			[['site', 'list', '--jsno'], /there is no option '--jsno'; did you mean '--json'\?/],
			[['site', 'list', '--json=x'], /--json takes no value/],
			[['help', 'sites'], /did you mean 'site'\?/],
			[['completion'], /usage: tributary completion bash\|zsh\|fish/],
			[['completion', 'csh'], /completions are for bash, zsh, fish/],
			[['objects', 'export'], /--to is required/],
			[['objects', 'move'], /--to is required; usage: tributary objects move --to <url>\n/],
			[['objects', 'move', '--to', ''], /--to is required/],
			[['backup'], /--to is required; usage: tributary backup --to/],
			[['backup', 'list', '--from='], /--from is required/],
			[['restore'], /--from is required/],
			[['backup', 'prune', '--from', '/nowhere'], /say what stays: --keep-last, --keep-daily, --keep-weekly or --keep-monthly/],
			[['backup', 'prune', '--from', '/nowhere', '--keep-last', '-1'], /--keep-last/],
			[['backup', 'prune', '--from', '/nowhere', '--keep-daily', '7d'], /--keep-daily is a whole number from 0 to 36525/],
			[['import', 'dicom-folder', '/nowhere'], /--key-file is required; usage: tributary import dicom-folder/],
			[['objects', 'move', '--to', 'ftp://x'], /--to is file:<absolute path> or s3:/],
			[['status', 'now'], /usage: tributary status/],
			[['messages', 'replay'], /name a message/],
			[['messages', 'replay', '--refused'], /--refused requires --site/],
			[['config', '--colour'], /--colour/],
			[['start', 'now'], /'start' takes no arguments/],
			[['start', '--port', '1'], /--port/],
			[['doctor', '--repair'], /usage: tributary doctor \[--objects/],
			[['constructor'], /there is no command 'constructor'/],
		];
		for (const [argv, message] of wrong) {
			const { code, out, err } = await run(...argv);
			assert.deepEqual([code, out], [2, ''], argv.join(' '));
			assert.match(err, message);
			assert.match(err, /^tributary: .*\n$/s);
		}
	});

	test('2 for a wrong configuration, naming the variable', async (t) => {
		const { run } = await terminal(t, { FHIR_PORT: 'x' });
		const { code, out, err } = await run('site', 'list');
		assert.deepEqual([code, out], [2, '']);
		assert.match(err, /^tributary: FHIR_PORT: /);
	});

	test('1 for what is refused, on stderr alone, with --json too', async (t) => {
		const { run } = await withWest(t);
		const refused: [string[], RegExp][] = [
			[['site', 'add', 'west', '--name', 'Again'], /the site 'west' already exists/],
			[['site', 'show', 'nowhere'], /there is no site 'nowhere'/],
			[['key', 'create', '--site', 'west', '--owner', 'nobody@example.org'], /there is no user/],
			[['key', 'revoke', 'x'], /there is no key 'x'/],
			[['client', 'add', '--site', 'west', '--name', 'x', '--allow-ip', '*', '--protocol', 'hl7-mllp'], /ALLOW_ANY_SOURCE/],
			[['client', 'show', 'x'], /there is no integration client 'x'/],
			[['messages', 'list', '--site', 'nowhere'], /there is no site 'nowhere'/],
		];
		for (const [argv, message] of refused) {
			const { code, out, err } = await run(...argv, '--json');
			assert.deepEqual([code, out], [1, ''], argv.join(' '));
			assert.match(err, message);
		}
	});

	test('1 when the database cannot be reached', async (t) => {
		const { run } = await terminal(t, { DATABASE_URL: 'postgresql://127.0.0.1:1/none' });
		assert.equal((await run('site', 'list')).code, 1);
	});

	test('1 when the database has no connection left, in a sentence, and doctor says so, too', async (t) => {
		const database = await testDatabase();
		t.after(() => database[Symbol.asyncDispose]());
		const url = new URL(database.url);
		const role = `full_${newId().replaceAll('-', '')}`;
		await administer(database.url, `create role ${role} login password '${url.password}' connection limit 0`);
		t.after(() => administer(database.url, `drop role ${role}`));
		url.username = role;
		const { run } = await terminal(t, { DATABASE_URL: url.href });
		const full =
			/^tributary: the database has no connection left: try again when other programs have ended theirs, or raise max_connections [a-z ]+\n$/;
		for (const command of [['site', 'list'], ['messages', 'list', '--json'], ['migrate']]) {
			const { code, out, err } = await run(...command);
			assert.deepEqual([code, out], [1, ''], command.join(' '));
			assert.match(err, full, command.join(' '));
		}
		const { code, out } = await run('doctor');
		assert.equal(code, 1);
		assert.match(out, /the database has no connection left/);
	});

	test('a client may list any source under the policy', async (t) => {
		const { json } = await withWest(t, { ALLOW_ANY_SOURCE: 'true' });
		const client = await json('client', 'add', '--site', 'west', '--name', 'any', '--allow-ip', '*', '--protocol', 'hl7-mllp');
		assert.deepEqual(client.allowed_ips, ['*']);
	});
});
