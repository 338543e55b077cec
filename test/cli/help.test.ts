import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describedCommands } from '#cli/built-ins.ts';
import { terminal, withWest } from '#test/support/terminal.ts';

describe('for people', () => {
	test('help lists every command, and each command says its usage without a database', async (t) => {
		const { run } = await terminal(t, { DATABASE_URL: 'postgresql://127.0.0.1:1/none' });
		const { code, out } = await run('--help');
		assert.equal(code, 0);
		const commands = [...out.matchAll(/^ {2}(\S+ \S+|\S+) {2,}\S/gm)].map(([, name = '']) => name);
		assert.ok(commands.includes('start') && commands.includes('client add') && commands.includes('messages replay'));
		for (const name of commands.filter((command) => command.includes(' '))) {
			const help = await run(...name.split(' '), '--help');
			assert.deepEqual([help.code, help.err], [0, '']);
			assert.ok(help.out.startsWith(`tributary ${name}`), name);
		}
		assert.deepEqual(await run('help'), { code: 0, out, err: '' });
		for (const name of commands) {
			const asked = await run('help', ...name.split(' '));
			assert.deepEqual(asked, await run(...name.split(' '), '--help'), name);
			assert.ok(asked.out.startsWith(`tributary ${name}`), name);
		}
	});

	test('help explains every word and option of every command, and lists the verbs of a noun', async (t) => {
		const { run } = await terminal(t, { DATABASE_URL: 'postgresql://127.0.0.1:1/none' });
		for (const { name, forms } of describedCommands()) {
			for (const { words, options } of forms) {
				for (const argument of [...words, ...options]) assert.notEqual(argument.meaning, '', `${name}: ${argument.name}`);
			}
		}
		const { out } = await run('help', 'client', 'add');
		assert.match(out, /^ {2}--protocol hl7-mllp\|dicom\.\.\. \(required\)\n? +a protocol by which the sender sends; can be repeated$/m);
		assert.match(out, /^ {2}--json +prints one JSON document$/m);
		for (const argv of [
			['site', '--help'],
			['help', 'site'],
			['site', '-h'],
		]) {
			assert.match((await run(...argv)).out, /^ {2}site add +adds a site\n {2}site list +lists the sites$/m, argv.join(' '));
		}
		assert.doesNotMatch((await run('help', 'site')).out, /client add/);
	});

	test('a terminal gets tables of its width, with ids in one piece; a file gets everything', async (t) => {
		const shell = await withWest(t);
		const whole = (await shell.run('site', 'list')).out;
		shell.columns = 80;
		const { out } = await shell.run('site', 'list');
		assert.ok(
			out
				.split('\n')
				.slice(0, -2)
				.every((line) => line.length <= 80),
			out,
		);
		assert.match(out, /^[0-9a-f-]{36} {2}west/m);
		assert.match(out, /^not shown, for lack of room: .*created_at.* \(all of it: --wide or --json\)$/m);
		assert.equal((await shell.run('site', 'list', '--wide')).out, whole);
		shell.columns = 100;
		const help = (await shell.run('help')).out.split('\n').slice(1);
		assert.ok(
			help.every((line) => line.length <= 100),
			help.join('\n'),
		);
	});

	test('a list is a table, a record is lines', async (t) => {
		const { run } = await withWest(t);
		const [head, row] = (await run('site', 'list')).out.split('\n');
		assert.match(
			head ?? '',
			/^id +slug +name +ae_title +default_authority +update_creates +check_references +instance_policy +waiting_max +associations_max +active +created_at +move$/,
		);
		assert.match(row ?? '', / west +West +WEST +- +true +/);
		assert.match((await run('site', 'show', 'west')).out, /^slug +west$/m);
		assert.match(
			(await run('site', 'show', 'west')).out,
			/^settings\n {2}default_authority +- \(default\)\n(.*\n)*? {2}update_creates +true \(default\)$/m,
		);
		assert.match((await run('setting', 'list')).out, /^ignore +Events to ignore +site, client, key +list /m);
		assert.equal((await run('client', 'list')).out, 'none\n');
	});
});
