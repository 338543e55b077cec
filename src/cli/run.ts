import { userInfo } from 'node:os';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ZodError } from 'zod';
import { checkObjects } from '#administration/objects.ts';
import type { Delivery } from '#record/delivery.ts';
import { openEntities } from '#storage/entities/index.ts';
import { migrate } from '#storage/migrate.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { withDatabase } from '#storage/open.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { type Config, ConfigurationError } from '../config.ts';
import { remoteAeCommands } from './ae.ts';
import { clientCommands } from './client.ts';
import { type CliHooks, type CliStreams, type Command, flag, type Invocation, type Options, UsageError } from './command.ts';
import { commitmentCommands } from './commitment.ts';
import { configuration, configurationMarkdown } from './configuration.ts';
import { conflictCommands } from './conflict.ts';
import { keyCommands } from './key.ts';
import { messageCommands } from './messages.ts';
import { mppsCommands } from './mpps.ts';
import { forPeople } from './print.ts';
import { reportCommands } from './report.ts';
import { siteCommands } from './site.ts';
import { userCommands } from './user.ts';

const commands: readonly Command[] = [
	...siteCommands,
	...userCommands,
	...keyCommands,
	...clientCommands,
	...remoteAeCommands,
	...messageCommands,
	...mppsCommands,
	...reportCommands,
	...commitmentCommands,
	...conflictCommands,
];

/**
 * The command line. Answers the exit code: 0 done, 1 failed, 2 wrong usage or configuration. With `--json` a command
 * prints one JSON document on stdout and nothing else there.
 */
export async function runCli(argv: readonly string[], streams: CliStreams, hooks: CliHooks): Promise<number> {
	try {
		return await dispatch(argv, streams, hooks);
	} catch (error) {
		streams.stderr.write(`tributary: ${reason(error)}\n`);
		return error instanceof UsageError || error instanceof ConfigurationError ? 2 : 1;
	}
}

function reason(error: unknown): string {
	if (error instanceof ZodError) return error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`).join('; ');
	return error instanceof Error ? error.message : String(error);
}

async function dispatch(argv: readonly string[], streams: CliStreams, hooks: CliHooks): Promise<number> {
	const [noun = 'start'] = argv;
	const builtIn = Object.hasOwn(builtIns, noun) ? builtIns[noun] : undefined;
	if (builtIn) return argv.includes('--help') ? help(streams) : builtIn(argv.slice(1), streams, hooks);
	const command = commands.find(({ name }) => name === argv.slice(0, 2).join(' '));
	if (command === undefined) {
		const related = commands.filter(({ name }) => name.startsWith(`${noun} `));
		throw new UsageError(
			related.length > 0
				? `'${noun}' takes: ${related.map(({ name }) => name.slice(noun.length + 1)).join(', ')}`
				: `there is no command '${noun}'; see 'tributary help'`,
		);
	}
	return carryOut(command, argv.slice(2), streams, hooks);
}

function parse(argv: readonly string[], options: NonNullable<ParseArgsConfig['options']>): { values: Options; positionals: string[] } {
	try {
		return parseArgs({ args: [...argv], options: { ...options, json: flag, help: flag }, allowPositionals: true });
	} catch (error) {
		throw new UsageError((error as Error).message);
	}
}

async function carryOut(command: Command, argv: readonly string[], streams: CliStreams, hooks: CliHooks): Promise<number> {
	const { values, positionals } = parse(argv, command.options);
	if (values['help']) {
		streams.stdout.write(`tributary ${command.name} ${command.usage}\n  ${command.summary}\n`);
		return 0;
	}
	const [fewest, most] = command.positionals;
	if (positionals.length < fewest || positionals.length > most) throw new UsageError(`usage: tributary ${command.name} ${command.usage}`);
	const config = hooks.readConfig();
	const result = await withDatabase(config, (databaseUrl) => runOn(databaseUrl, command, { positionals, options: values }, config, hooks));
	streams.stdout.write(values['json'] ? `${JSON.stringify(result)}\n` : forPeople(result));
	return 0;
}

async function runOn(databaseUrl: string, command: Command, invocation: Invocation, config: Config, hooks: CliHooks): Promise<unknown> {
	await migrate(databaseUrl);
	const orm = await openEntities(databaseUrl);
	try {
		const context = {
			em: orm.em,
			actor: `cli:${userInfo().username}`,
			nowMs: () => Date.now(),
			allowAnySource: config.ALLOW_ANY_SOURCE,
			databaseUrl,
			objects: configuredObjectStore(config),
			headerBytesMax: config.limits.dicomHeaderBytesMax,
			deliver: (deliveries: readonly Delivery[]) => hooks.processDeliveries(databaseUrl, deliveries, config.limits),
		};
		return await command.run(context, invocation);
	} finally {
		await orm.close(true);
	}
}

type BuiltIn = (argv: readonly string[], streams: CliStreams, hooks: CliHooks) => Promise<number>;

const builtIns: Readonly<Record<string, BuiltIn>> = {
	start: (argv, _streams, hooks) => {
		const { positionals } = parse(argv, {});
		if (positionals.length > 0) throw new UsageError("'start' takes no arguments; it is configured by the environment");
		return hooks.start();
	},
	migrate: async (argv, streams, hooks) => {
		const { values } = parse(argv, {});
		const result = await withDatabase(hooks.readConfig(), migrate);
		streams.stdout.write(
			values['json'] ? `${JSON.stringify(result)}\n` : `applied: ${result.applied.join(', ') || 'nothing, the schema is up to date'}\n`,
		);
		return 0;
	},
	doctor: async (argv, streams, hooks) => {
		const { values } = parse(argv, { objects: flag, remove: flag, repair: flag });
		if (!values['objects']) throw new UsageError('usage: tributary doctor --objects [--remove] [--repair]');
		const config = hooks.readConfig();
		const report = await withDatabase(config, async (databaseUrl) => {
			await migrate(databaseUrl);
			const mending = { remove: values['remove'] === true, repair: values['repair'] === true };
			return checkObjects(databaseUrl, configuredObjectStore(config), Date.now(), mending);
		});
		streams.stdout.write(values['json'] ? `${JSON.stringify(report)}\n` : forPeople(report));
		return 0;
	},
	config: async (argv, streams, hooks) => {
		const { values } = parse(argv, { markdown: flag });
		if (values['markdown']) {
			streams.stdout.write(configurationMarkdown());
			return 0;
		}
		const table = configuration(hooks.readConfig());
		streams.stdout.write(values['json'] ? `${JSON.stringify(table)}\n` : forPeople(table));
		return 0;
	},
	status: async (argv, streams, hooks) => {
		const { values } = parse(argv, {});
		const config = hooks.readConfig();
		const runtime = readRuntimeFile(config.DATA_DIR);
		if (runtime === undefined) throw new Error(`no service runs on ${config.DATA_DIR}`);
		const database = config.DATABASE_URL === undefined ? 'embedded' : 'external';
		const status = {
			version: runtime.version,
			node: process.versions.node,
			http_server: runtime.httpServer,
			database,
			surfaces: runtime.surfaces,
		};
		const rows = Object.entries(runtime.surfaces).map(([surface, address]) => ({ surface, ...address }));
		streams.stdout.write(
			values['json']
				? `${JSON.stringify(status)}\n`
				: `Tributary ${runtime.version}, process ${runtime.pid}, ${database} database\n${forPeople(rows)}`,
		);
		return 0;
	},
	help: async (_argv, streams) => help(streams),
	'--help': async (_argv, streams) => help(streams),
	'--version': async (_argv, streams, hooks) => {
		streams.stdout.write(`${hooks.version}\n`);
		return 0;
	},
};

function help(streams: CliStreams): number {
	const all = [
		{ name: 'start', summary: 'runs the service' },
		{ name: 'migrate', summary: 'brings the database schema up to date' },
		{ name: 'status', summary: 'where the running service listens' },
		{ name: 'config', summary: 'every variable with its effective value' },
		{ name: 'doctor', summary: '--objects: holds the object store against the index' },
		...commands,
	];
	const width = Math.max(...all.map(({ name }) => name.length));
	streams.stdout.write(`tributary <command> [--json]; 'tributary <command> --help' shows its options\n\n`);
	for (const { name, summary } of all) streams.stdout.write(`  ${name.padEnd(width)}  ${summary}\n`);
	return 0;
}
