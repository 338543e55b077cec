import { checkObjects } from '#administration/objects.ts';
import { checkTimeZones } from '#administration/time-zones.ts';
import { faultOfDatabaseUrl, passwordsOf } from '#core/database-url.ts';
import { hostTimeZone } from '#core/time-zone.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import { withDatabase } from '#storage/open.ts';
import { type Config, secretVariables } from '../../config.ts';
import { type BuiltIn, type Given, option } from '../built-in.ts';
import { type CliHooks, type CliStreams, UsageError } from '../command.ts';
import { printed, withOpened } from '../opened.ts';
import { wrapped } from '../print.ts';
import { type Examined, type Finding, finding, ok } from './check.ts';
import { checkDatabase, checkPooler, checkServers } from './database.ts';
import { checkEmbedded, checkIdentity, checkRoom, checkVariables } from './environment.ts';
import { checkAuditFiles, checkDisk, checkObjectStore, checkPorts, checkTls } from './host.ts';
import { checkReplica } from './replica.ts';

/** `doctor --json` prints this. */
interface Report {
	/** False if there is a fault; the exit code is 1 then. */
	ok: boolean;
	checks: Finding[];
	assumed_time_zone: string;
	sites_without_time_zone: string[];
}

export const doctor: BuiltIn = {
	name: 'doctor',
	summary: 'checks the database, the disk, ports, TLS files, the object store and the configuration; ends with 1 if there is a fault',
	options: [
		option('objects', 'compares the object store with the index instead'),
		option('remove', 'with --objects: deletes objects that no row names'),
		option('repair', 'with --objects: moves objects to where their rows expect them'),
	],
	run: async (given, streams, hooks) => {
		const mending = { remove: given.has('remove'), repair: given.has('repair') };
		if (given.has('objects')) return compareObjects(given, mending, streams, hooks);
		if (mending.remove || mending.repair) throw new UsageError('usage: tributary doctor [--objects [--remove] [--repair]]');
		const examined = { config: hooks.readConfig(), environment: hooks.environment ?? {} };
		const report = withoutSecrets(await examine(examined), examined.config);
		if (given.json) streams.stdout.write(`${JSON.stringify(report)}\n`);
		else streams.stdout.write(readable(report, streams.stdout.columns));
		return report.ok ? 0 : 1;
	},
};

async function compareObjects(
	given: Given,
	mending: { remove: boolean; repair: boolean },
	streams: CliStreams,
	hooks: CliHooks,
): Promise<number> {
	const report = await withOpened(
		hooks.readConfig(),
		async ({ config, database }) => ({
			...(await checkObjects(database.people, configuredObjectStore(config), Date.now(), mending)),
			...(await checkTimeZones(database.people)),
		}),
		{ create: false },
	);
	printed(report, given, streams);
	return 0;
}

async function examine(examined: Examined): Promise<Report> {
	const { config } = examined;
	const zones: { without: string[] } = { without: [] };
	const checks = [
		...(await finding('database', () =>
			withDatabase(
				config,
				async (databaseUrl) => {
					const { findings, sitesWithoutTimeZone } = await checkDatabase(databaseUrl, config);
					zones.without = sitesWithoutTimeZone;
					return [...findings, ...(await finding('data directory', () => checkIdentity(examined, databaseUrl)))];
				},
				{ create: false },
			),
		)),
		...(await checkUrl('DATABASE_URL', 'database servers', config.DATABASE_URL)),
		...(await finding('read replica', () =>
			config.DATABASE_READ_URL === undefined ? [] : checkReplica(config, config.DATABASE_READ_URL),
		)),
		...(await checkUrl('DATABASE_READ_URL', 'replica servers', config.DATABASE_READ_URL)),
		...(await finding('embedded database', () => checkEmbedded(examined))),
		...(await finding('object store', () => checkObjectStore(config))),
		...(await finding('disk', () => checkDisk(config))),
		...(await finding('ports', () => checkPorts(config))),
		...(await finding('TLS', () => checkTls(config))),
		...(await finding('audit receiver', () => checkAuditFiles(config))),
		...(await finding('variables', () => checkVariables(examined))),
		...(await finding('limits', () => checkRoom(examined))),
		ok('Node.js', process.versions.node),
	];
	return {
		ok: checks.every(({ state }) => state !== 'fault'),
		checks,
		assumed_time_zone: hostTimeZone(),
		sites_without_time_zone: zones.without,
	};
}

/** Looks at what a URL leads through, and at each server that it names. */
async function checkUrl(variable: string, servers: string, url: string | undefined): Promise<Finding[]> {
	if (url === undefined) return [];
	return [...(await finding('pooler', () => checkPooler(variable, url))), ...(await finding(servers, () => checkServers(servers, url)))];
}

/** A text of the driver or of the operating system may quote what it was given. */
function withoutSecrets(report: Report, config: Config): Report {
	const secrets = secretVariables.flatMap((variable) => {
		const value = config[variable as keyof Config];
		if (typeof value !== 'string') return [];
		const passwords = faultOfDatabaseUrl(value) === undefined ? passwordsOf(value) : [];
		return [value, ...passwords].filter((text) => text.length > 3);
	});
	const clean = (text: string) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '(not shown)'), text);
	return { ...report, checks: report.checks.map((check) => ({ ...check, text: clean(check.text) })) };
}

function readable({ ok: isWell, checks }: Report, columns = 120): string {
	const width = Math.max(...checks.map(({ check }) => check.length));
	const lines = checks.flatMap(({ state, check, text }) => {
		const [head = '', ...rest] = wrapped(text, Math.max(40, columns - width - 11));
		return [`${state.padEnd(7)}  ${check.padEnd(width)}  ${head}`, ...rest.map((line) => `${' '.repeat(width + 11)}${line}`)];
	});
	const count = (state: string, noun: string) => {
		const found = checks.filter((each) => each.state === state).length;
		return `${found} ${noun}${found === 1 ? '' : 's'}`;
	};
	return `${lines.join('\n')}\n\n${isWell ? 'No fault' : count('fault', 'fault')}, ${count('warning', 'warning')}.\n`;
}
