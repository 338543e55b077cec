import { createLog, type Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import type { Node } from '#processes/start-node.ts';
import type { CliHooks } from './cli/command.ts';
import { runCli } from './cli/run.ts';
import { ConfigurationError, readConfig } from './config.ts';
import { version } from './version.ts';

/** Exit codes: 0 for a regular end, 1 for a failure at run time, 2 for wrong configuration or usage. */
export async function main(argv: string[]): Promise<number> {
	if (argv[0] !== 'start') {
		// Whoever reads what a command prints, such as `head`, may have enough of it.
		process.stdout.on('error', (error: NodeJS.ErrnoException) => {
			if (error.code !== 'EPIPE') throw error;
		});
	}
	return runCli(argv, { stdout: process.stdout, stderr: process.stderr }, { start, processDelivery, remoteEcho, readConfig, version });
}

/** Only the commands that need these modules load them, because loading takes longer than most commands. */
const processDelivery: CliHooks['processDelivery'] = async (databaseUrl, delivery, limits) =>
	(await import('./ingest-in-place.ts')).processInPlace(databaseUrl, delivery, limits);

const remoteEcho: CliHooks['remoteEcho'] =
	(config) =>
	async (...parameters) =>
		(await import('./echo.ts')).remoteEcho(config)(...parameters);

/** Runs the service until a signal ends it. */
async function start(): Promise<number> {
	let log: Log | undefined;
	try {
		const config = readConfig();
		log = createLog(config.LOG_LEVEL);
		const { startNode } = await import('#processes/start-node.ts');
		const node = await startNode(config, log);
		process.stdout.write(startBlock(node, config.DATA_DIR));
		return await untilEnded(node, log);
	} catch (error) {
		process.stderr.write(`tributary: ${(error as Error).message}\n`);
		if (log && !(error instanceof ConfigurationError || error instanceof StartError))
			log.fatal({ err: error }, 'the service could not start');
		return error instanceof ConfigurationError ? 2 : 1;
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
			node.close().then(
				() => resolve(0),
				(error) => {
					log.fatal({ err: error }, 'the service did not end cleanly');
					resolve(1);
				},
			);
		};
		for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(signal));
		const { roll } = node;
		if (roll) process.on('SIGHUP', () => void roll());
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

function startBlock({ surfaces, consoleLogin, embedded }: Node, dataDir: string): string {
	const lines = Object.entries(surfaces).map(([name, { host, port, tls }]) => {
		const scheme = schemes[name] ?? (tls ? 'https' : 'http');
		const address = host.includes(':') ? `[${host}]` : host;
		return `  ${(labels[name] ?? name).padEnd(24)}${scheme}://${address}:${port}${paths[name] ?? ''}`;
	});
	const database = embedded
		? `embedded PostgreSQL under ${dataDir} (for evaluation; set DATABASE_URL in production)`
		: 'PostgreSQL at DATABASE_URL';
	const login = consoleLogin
		? `  console sign-in         ${consoleLogin.email}, password ${consoleLogin.password} (shown only once; you choose a new one at the first sign-in)\n`
		: '';
	return `\nTributary ${version} is ready\n\n${lines.join('\n')}\n\n${login}  data                    ${database}\n  first steps             npm run -s tributary -- help\n\n`;
}
