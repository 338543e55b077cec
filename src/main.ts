import { logForeignLines } from '#core/foreign-lines.ts';
import { hostAndPort } from '#core/host-and-port.ts';
import { createLog, type Log } from '#core/log.ts';
import { StartError, UnusableSetting } from '#core/start-error.ts';
import type { Node } from '#processes/start-node.ts';
import { reasonInWords } from '#storage/reason-in-words.ts';
import type { CliHooks } from './cli/command.ts';
import { runCli } from './cli/run.ts';
import { type Config, ConfigurationError, environmentOfProcess, readConfig } from './config.ts';
import { tellServiceManager } from './service-manager.ts';
import { version } from './version.ts';

/** Exit codes: 0 for a regular end, 1 for a failure at run time, 2 for wrong configuration or usage. */
export async function main(argv: string[]): Promise<number> {
	if (argv[0] !== 'start') {
		// Whoever reads what a command prints, such as `head`, may have enough of it.
		process.stdout.on('error', (error: NodeJS.ErrnoException) => {
			if (error.code !== 'EPIPE') throw error;
		});
	}
	const hooks = { start, processDelivery, openIngest, remoteEcho, remoteSend, readConfig, environment: environmentOfProcess({}), version };
	return runCli(argv, { stdout: process.stdout, stderr: process.stderr }, hooks);
}

/** Only the commands that need these modules load them, because loading takes longer than most commands. */
const processDelivery: CliHooks['processDelivery'] = async (databaseUrl, delivery, limits) =>
	(await import('./ingest-in-place.ts')).processInPlace(databaseUrl, delivery, limits);

const openIngest: CliHooks['openIngest'] = async (databaseUrl, limits) =>
	(await import('./ingest-in-place.ts')).openInPlace(databaseUrl, limits);

const remoteEcho: CliHooks['remoteEcho'] =
	(config) =>
	async (...parameters) =>
		(await import('./echo.ts')).remoteEcho(config)(...parameters);

const remoteSend: CliHooks['remoteSend'] = (config) =>
	async function* send(...parameters) {
		yield* (await import('./echo.ts')).remoteSend(config)(...parameters);
	};

/** Runs the service until a signal ends it. */
async function start(): Promise<number> {
	let log: Log | undefined;
	try {
		const config = readConfig();
		log = createLog(config.LOG_LEVEL);
		logForeignLines(log);
		const { setUpEngine } = await import('#processes/engine.ts');
		setUpEngine();
		const { startNode } = await import('#processes/start-node.ts');
		const { firstPasswordShown } = await import('#access/first-administrator.ts');
		const node = await startNode(config, log);
		// Whoever reads that the service is ready may end it at once, and then it drains too.
		const ended = untilEnded(node, log);
		const { startWarnings } = await import('./cli/doctor/environment.ts');
		const warnings = await startWarnings({ config, environment: environmentOfProcess({}) }, node.databaseUrl);
		for (const warning of warnings) log.warn(warning);
		process.stdout.write(startBlock(node, config, warnings));
		firstPasswordShown(config.DATA_DIR);
		void tellServiceManager('ready', log);
		return await ended;
	} catch (error) {
		process.stderr.write(`tributary: ${reasonInWords(error)}\n`);
		if (log && !(error instanceof ConfigurationError || error instanceof StartError))
			log.fatal({ err: error }, 'the service could not start');
		return error instanceof ConfigurationError || error instanceof UnusableSetting ? 2 : 1;
	}
}

function untilEnded(node: Node, log: Log): Promise<number> {
	return new Promise((resolve) => {
		let ending = false;
		const end = (signal: string) => {
			// A second signal ends the process at once. Senders repeat messages that got no answer.
			if (ending) {
				node.kill();
				process.exit(1);
			}
			ending = true;
			log.info({ signal }, 'draining');
			void tellServiceManager('stopping', log);
			node.close().then(
				() => resolve(0),
				(error) => {
					log.fatal({ err: error }, 'the service did not end cleanly');
					resolve(1);
				},
			);
		};
		for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(signal));
		const { roll, service } = node;
		// The signal would end the process at once if nobody listened.
		process.on('SIGHUP', () => {
			if (roll) return void roll();
			log.info({ signal: 'SIGHUP' }, 'looking at the TLS files');
			service?.renewCertificates();
		});
	});
}

const labels: Readonly<Record<string, string>> = {
	fhir: 'FHIR R4',
	hl7: 'HL7 over HTTP',
	mpps: 'MPPS over HTTP',
	admin: 'console and admin API',
	mllp: 'HL7 v2 over MLLP',
	mllp_tls: 'HL7 v2 over MLLP, TLS',
	dimse: 'DICOM',
	dimse_tls: 'DICOM, TLS',
	ops: 'metrics and health',
};

const schemes: Readonly<Record<string, string>> = { mllp: 'mllp', mllp_tls: 'mllps', dimse: 'dicom', dimse_tls: 'dicoms' };
const paths: Readonly<Record<string, string>> = { fhir: '/fhir', hl7: '/v2/ingest', mpps: '/ingest', ops: '/metrics' };

function startBlock(
	{ surfaces, consoleLogin, embedded }: Node,
	{ DATA_DIR: dataDir, API_DOCUMENTATION: documented }: Config,
	warnings: readonly string[],
): string {
	const lines = Object.entries(surfaces).map(([name, surface]) => {
		const scheme = schemes[name] ?? (surface.tls ? 'https' : 'http');
		return `  ${(labels[name] ?? name).padEnd(24)}${scheme}://${hostAndPort(surface)}${paths[name] ?? ''}`;
	});
	const database = embedded
		? `embedded PostgreSQL under ${dataDir} (for evaluation; set DATABASE_URL in production)`
		: 'PostgreSQL at DATABASE_URL';
	const login = consoleLogin
		? `  console sign-in         ${consoleLogin.email}, password ${consoleLogin.password} (shown only once; you choose a new one at the first sign-in)\n`
		: '';
	const reference = documented ? '  API reference           /api/documentation on each of the http addresses\n' : '';
	const minded = warnings.map((warning) => `  WARNING                 ${warning}\n`).join('');
	return `\nTributary ${version} is ready\n\n${lines.join('\n')}\n\n${login}  data                    ${database}\n${reference}  first steps             the console leads to a first message; npm run -s tributary -- help lists the commands\n${minded}\n`;
}
