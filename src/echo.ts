import { readFile } from 'node:fs/promises';
import type { OperationContext } from '#administration/context.ts';
import { echo } from '#surfaces/dimse/echo.ts';
import type { Config } from './config.ts';

type Read = Pick<Config, 'limits'> & Partial<Pick<Config, 'TLS_CERT_FILE' | 'TLS_KEY_FILE' | 'TLS_CLIENT_CA_FILE'>>;

/** C-ECHO of remote AEs for operations, with the certificate that the service shows and the authorities that it believes. */
export function remoteEcho({ TLS_CERT_FILE, TLS_KEY_FILE, TLS_CLIENT_CA_FILE, limits }: Read): OperationContext['echo'] {
	return async (target, callingAe) => {
		const [cert, key, authorities] = target.tls ? await Promise.all([TLS_CERT_FILE, TLS_KEY_FILE, TLS_CLIENT_CA_FILE].map(contentOf)) : [];
		return echo(target, { callingAe, tls: { cert, key, authorities }, limits });
	};
}

function contentOf(path: string | undefined): Promise<Buffer> | undefined {
	return path === undefined ? undefined : readFile(path);
}
