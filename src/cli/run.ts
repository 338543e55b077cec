import { userInfo } from 'node:os';
import { wholeNetwork } from '#administration/context.ts';
import { checkObjects } from '#administration/objects.ts';
import { perform } from '#administration/perform.ts';
import { checkTimeZones } from '#administration/time-zones.ts';
import { silentLog } from '#core/log.ts';
import type { Delivery } from '#record/delivery.ts';
import { Database } from '#storage/database.ts';
import { openEntities } from '#storage/entities/index.ts';
import { migrate } from '#storage/migrate.ts';
import { confirmedByNode } from '#storage/node-processes.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { withDatabase } from '#storage/open.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { type Config, ConfigurationError } from '../config.ts';
import { createMetrics } from '../metrics.ts';
import { type CliHooks, type CliStreams, flag, UsageError } from './command.ts';
import { configuration, configurationMarkdown, settingsMarkdown } from './configuration.ts';
import { objectsCommand } from './objects.ts';
import { type Call, type Command, callOf, commands, helpOf, parse } from './operation-command.ts';
import { forPeople } from './print.ts';
import { rolled } from './roll.ts';

/**
 * Runs the command line and returns the exit code: 0 for success, 1 for a failure, 2 for wrong usage or configuration. With `--json`,
 * a command prints exactly one JSON document on stdout.
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
				? `'${noun}' needs one of: ${related.map(({ name }) => name.slice(noun.length + 1)).join(', ')}`
				: `there is no command '${noun}'; see 'tributary help'`,
		);
	}
	return carryOut(command, argv.slice(2), streams, hooks);
}

async function carryOut(command: Command, argv: readonly string[], streams: CliStreams, hooks: CliHooks): Promise<number> {
	const call = await callOf(command, argv);
	if (call === undefined) {
		streams.stdout.write(helpOf(command));
		return 0;
	}
	const config = hooks.readConfig();
	const result = await withDatabase(config, (databaseUrl) => runOn(databaseUrl, call, config, streams, hooks));
	streams.stdout.write(call.json ? `${JSON.stringify(result)}\n` : forPeople(result));
	return 0;
}

async function runOn(
	databaseUrl: string,
	{ operation, inputs, repeated }: Call,
	config: Config,
	streams: CliStreams,
	hooks: CliHooks,
): Promise<unknown> {
	await migrate(databaseUrl);
	const database = openDatabase(databaseUrl, config);
	const orm = await openEntities(database.people);
	try {
		const context = {
			...wholeNetwork(`cli:${userInfo().username}`),
			em: orm.em,
			nowMs: () => Date.now(),
			accessChanged: () => untilInForce(config, streams),
			allowAnySource: config.ALLOW_ANY_SOURCE,
			database: database.people,
			objects: configuredObjectStore(config),
			headerBytesMax: config.limits.dicomHeaderBytesMax,
			limits: config.limits,
			echo: hooks.remoteEcho(config),
			reader: database.currentReads,
			replayRuns: undefined,
			deliver: <Sent extends Delivery>(delivery: Sent) => hooks.processDelivery(databaseUrl, delivery, config.limits),
		};
		const results: unknown[] = [];
		for (const input of inputs) results.push(await perform(operation, context, input));
		return repeated ? results : results[0];
	} finally {
		await orm.close(true);
		await database.close();
	}
}

function openDatabase(url: string, { limits }: Config): Database {
	return new Database({ url, limits, metrics: createMetrics({ processMetrics: false }), log: silentLog });
}

/** A service that runs on this node has the change in force when the command ends; where it does not confirm that, people are told. */
async function untilInForce({ DATA_DIR, limits }: Config, streams: CliStreams): Promise<void> {
	const late = await confirmedByNode(DATA_DIR, limits.accessConfirmMsMax);
	if (late.length === 0) return;
	const when = `within ${limits.accessConfirmMsMax / 1000} s; it follows as soon as it can read the database`;
	streams.stderr.write(`tributary: the change is made, but ${late.join(', ')} did not confirm it ${when}\n`);
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
		const mending = { remove: values['remove'] === true, repair: values['repair'] === true };
		if (!values['objects'] && (mending.remove || mending.repair))
			throw new UsageError('usage: tributary doctor [--objects [--remove] [--repair]]');
		const config = hooks.readConfig();
		const report = await withDatabase(config, async (databaseUrl) => {
			await migrate(databaseUrl);
			const database = openDatabase(databaseUrl, config);
			try {
				const zones = await checkTimeZones(database.people);
				if (!values['objects']) return zones;
				return { ...(await checkObjects(database.people, configuredObjectStore(config), Date.now(), mending)), ...zones };
			} finally {
				await database.close();
			}
		});
		streams.stdout.write(values['json'] ? `${JSON.stringify(report)}\n` : forPeople(report));
		return 0;
	},
	objects: async (argv, streams, hooks) => {
		const { isJson, run } = objectsCommand(argv, hooks);
		const config = hooks.readConfig();
		const report = await withDatabase(config, async (databaseUrl) => {
			await migrate(databaseUrl);
			const database = openDatabase(databaseUrl, config);
			try {
				return await run({ config, database, databaseUrl });
			} finally {
				await database.close();
			}
		});
		streams.stdout.write(isJson ? `${JSON.stringify(report)}\n` : forPeople(report));
		return 0;
	},
	config: async (argv, streams, hooks) => {
		const { values } = parse(argv, { markdown: flag, settings: flag });
		if (values['markdown']) {
			streams.stdout.write(values['settings'] ? settingsMarkdown() : configurationMarkdown());
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
		if (runtime === undefined) throw new Error(`no service is running on ${config.DATA_DIR}`);
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
	roll: async (argv, streams, hooks) => {
		parse(argv, {});
		const { DATA_DIR: dataDir, limits } = hooks.readConfig();
		await rolled(dataDir, limits.drainMsMax);
		streams.stdout.write('every process is replaced\n');
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
		{ name: 'roll', summary: 'replaces the processes of the running service one after the other; see PROCESSES' },
		{ name: 'status', summary: 'shows the addresses of the running service' },
		{ name: 'config', summary: 'lists every variable with its effective value' },
		{ name: 'doctor', summary: 'lists the sites without a time zone; --objects: compares the object store with the index' },
		{
			name: 'objects',
			summary: 'check: compares the object store with the index; export: writes DICOM files; rebuild: makes the index from the store',
		},
		...commands,
	];
	const width = Math.max(...all.map(({ name }) => name.length));
	streams.stdout.write(`tributary <command> [--json]; 'tributary <command> --help' shows its options\n\n`);
	for (const { name, summary } of all) streams.stdout.write(`  ${name.padEnd(width)}  ${summary}\n`);
	return 0;
}
