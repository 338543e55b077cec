import { readFile } from 'node:fs/promises';
import type { OperationContext } from '#administration/context.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { echo } from '#surfaces/dimse/echo.ts';
import { sendInstances } from '#surfaces/dimse/send.ts';
import type { Config } from './config.ts';
import { createMetrics, type Metrics } from './metrics.ts';

type Read = Pick<Config, 'limits' | 'HOST' | 'ALLOWED_TARGETS'> &
	Partial<Pick<Config, 'TLS_CERT_FILE' | 'TLS_KEY_FILE' | 'TLS_CLIENT_CA_FILE'>>;

/** C-ECHO of remote AEs for operations, with the certificate that the service shows and the authorities that it believes. */
export function remoteEcho(config: Read): OperationContext['echo'] {
	const { ALLOWED_TARGETS, HOST, limits } = config;
	const targets = targetPolicy(ALLOWED_TARGETS, HOST);
	return async (target, callingAe) => echo(target, { callingAe, tls: await tlsFor(target, config), targets, limits });
}

/** C-STORE to remote AEs for operations. */
export function remoteSend(config: Read, metrics: Metrics = createMetrics({ processMetrics: false })): OperationContext['send'] {
	const { ALLOWED_TARGETS, HOST, limits } = config;
	const targets = targetPolicy(ALLOWED_TARGETS, HOST);
	return async function* send(target, callingAe, toSend) {
		yield* sendInstances(target, toSend, { callingAe, tls: await tlsFor(target, config), targets, limits, metrics });
	};
}

async function tlsFor({ tls }: { tls: boolean }, { TLS_CERT_FILE, TLS_KEY_FILE, TLS_CLIENT_CA_FILE }: Read) {
	const [cert, key, authorities] = tls ? await Promise.all([TLS_CERT_FILE, TLS_KEY_FILE, TLS_CLIENT_CA_FILE].map(contentOf)) : [];
	return { cert, key, authorities };
}

function contentOf(path: string | undefined): Promise<Buffer> | undefined {
	return path === undefined ? undefined : readFile(path);
}
