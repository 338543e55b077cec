import { migrate } from '#storage/migrate.ts';
import { withDatabase } from '#storage/open.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { backupCommands } from './backup.ts';
import { backupPrune } from './backup-prune.ts';
import { type BuiltIn, describedBuiltIn, option } from './built-in.ts';
import { type Argument, type DescribedCommand, UsageError } from './command.ts';
import { completionScript, shells } from './completion.ts';
import { configuration, configurationMarkdown, settingsMarkdown } from './configuration.ts';
import { doctor } from './doctor/doctor.ts';
import { helpAbout } from './help.ts';
import { importCommands } from './imports.ts';
import { objectCommands } from './objects.ts';
import { printed } from './opened.ts';
import { commands, described } from './operation-command.ts';
import { forPeople } from './print.ts';
import { replicaOf, replicaText } from './replica-status.ts';
import { rolled } from './roll.ts';
import { siteMove } from './site-move.ts';

const word = (name: string, meaning: string, rest: Partial<Argument> = {}): Argument => ({
	...{ name, meaning, value: undefined, choices: [], isRequired: false, isRepeated: false },
	...rest,
});

const start: BuiltIn = {
	name: 'start',
	summary: 'runs the service',
	run: ({ words }, _streams, hooks) => {
		if (words.length > 0) throw new UsageError("'start' takes no arguments; it is configured by the environment");
		return hooks.start();
	},
};

const migration: BuiltIn = {
	name: 'migrate',
	summary: 'brings the database schema up to date',
	run: async ({ json }, { stdout }, hooks) => {
		const result = await withDatabase(hooks.readConfig(), migrate);
		stdout.write(json ? `${JSON.stringify(result)}\n` : `applied: ${result.applied.join(', ') || 'nothing, the schema is up to date'}\n`);
		return 0;
	},
};

const roll: BuiltIn = {
	name: 'roll',
	summary: 'replaces the processes of the running service one after the other; see PROCESSES',
	run: async (_given, { stdout }, hooks) => {
		const { DATA_DIR: dataDir, limits } = hooks.readConfig();
		await rolled(dataDir, limits.drainMsMax);
		stdout.write('every process is replaced\n');
		return 0;
	},
};

const status: BuiltIn = {
	name: 'status',
	summary: 'shows the addresses of the running service',
	run: async ({ json }, { stdout }, hooks) => {
		const config = hooks.readConfig();
		const runtime = readRuntimeFile(config.DATA_DIR);
		if (runtime === undefined) throw new Error(`no service is running on ${config.DATA_DIR}`);
		const database = config.DATABASE_URL === undefined ? 'embedded' : 'external';
		const { version, httpServer, surfaces, pid } = runtime;
		const replica = config.DATABASE_READ_URL === undefined ? undefined : await replicaOf(runtime);
		const beside = replica === undefined ? {} : { replica };
		const told = { version, node: process.versions.node, http_server: httpServer, database, ...beside, surfaces };
		const rows = Object.entries(surfaces).map(([surface, address]) => ({ surface, ...address }));
		const head = `Tributary ${version}, process ${pid}, ${database} database\n${replica === undefined ? '' : `${replicaText(replica)}\n`}`;
		stdout.write(json ? `${JSON.stringify(told)}\n` : `${head}${forPeople(rows)}`);
		return 0;
	},
};

const config: BuiltIn = {
	name: 'config',
	summary: 'lists every variable with its effective value',
	options: [
		option('markdown', 'prints docs/configuration.md: every variable with its default'),
		option('settings', 'with --markdown: prints docs/settings.md, the settings of sites and senders'),
	],
	run: async (given, streams, hooks) => {
		if (given.has('markdown')) streams.stdout.write(given.has('settings') ? settingsMarkdown() : configurationMarkdown());
		else printed(configuration(hooks.readConfig()), given, streams);
		return 0;
	},
};

const version: BuiltIn = {
	name: 'version',
	summary: 'shows the version of Tributary and of Node.js',
	run: async ({ json }, { stdout }, hooks) => {
		const { node } = process.versions;
		stdout.write(json ? `${JSON.stringify({ version: hooks.version, node })}\n` : `Tributary ${hooks.version}, Node.js ${node}\n`);
		return 0;
	},
};

const completion: BuiltIn = {
	name: 'completion',
	summary: 'prints a script by which a shell completes commands: source <(tributary completion bash)',
	words: [word('shell', 'the shell', { value: shells.join('|'), choices: shells, isRequired: true })],
	run: async ({ words: [given = ''] }, { stdout }) => {
		const shell = shells.find((name) => name === given);
		if (shell === undefined) throw new UsageError(`completions are for ${shells.join(', ')}`);
		stdout.write(completionScript(shell, describedCommands()));
		return 0;
	},
};

const help: BuiltIn = {
	name: 'help',
	summary: 'lists the commands, or explains one: help site add',
	words: [word('command', 'a command, or its first word', { value: '<command>', isRepeated: true })],
	run: async ({ words }, streams) => {
		streams.stdout.write(helpAbout(words, describedCommands(), streams));
		return 0;
	},
};

/** The commands that are no operations, in the order of the help. */
export const builtIns: readonly BuiltIn[] = [
	start,
	migration,
	roll,
	status,
	config,
	doctor,
	...objectCommands,
	...backupCommands,
	backupPrune,
	...importCommands,
	siteMove,
	version,
	completion,
	help,
];

/** Every command, as help and completion show it. */
export function describedCommands(): DescribedCommand[] {
	return [...builtIns.map(describedBuiltIn), ...commands.map(described)];
}
