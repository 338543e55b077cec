import { hostname } from 'node:os';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { Config } from '../../config.ts';
import type { ServiceNode } from '../node.ts';
import type { PublicOrigin } from './origin.ts';
import { OwnNames } from './own-names.ts';
import { noteRefusedCredential } from './refused-credential.ts';
import type { HttpServer, HttpServerOptions } from './server.ts';

/** Returns the options that all HTTP surfaces of the node share. */
export function httpOptions({ config, metrics, log, place, refusals, tracing }: ServiceNode): Pick<
	HttpServerOptions,
	'host' | 'sharesPort' | 'tls' | 'trustedProxies' | 'limits' | 'metrics' | 'log' | 'tracing' | 'refused'
> & {
	publicOrigin: PublicOrigin;
} {
	const {
		HOST: host,
		TLS_CERT_FILE: certFile,
		TLS_KEY_FILE: keyFile,
		TRUSTED_PROXIES: trustedProxies,
		PUBLIC_HOSTS: hosts,
		limits,
	} = config;
	const tls = certFile && keyFile ? { certFile, keyFile } : undefined;
	const refused: HttpServerOptions['refused'] = (request) => noteRefusedCredential(refusals, request);
	// A port with TLS is opened beside itself when its certificate is renewed.
	const sharesPort = place.count > 1 || (tls !== undefined && renewsPorts);
	return { host, sharesPort, tls, trustedProxies, publicOrigin: { hosts }, limits, metrics, log, tracing, refused };
}

/** Returns the names of a surface for operators that listens at a host. */
export function operatorNames(config: Config, host: string): OwnNames {
	const { OPERATOR_HOSTS: listed, PUBLIC_HOSTS: hosts, PUBLIC_URL, ADMIN_URL } = config;
	return new OwnNames({ listed, others: [...hosts, host, hostname()], urls: [PUBLIC_URL, ADMIN_URL] });
}

/** Elsewhere sockets do not share a port as on Linux. */
const renewsPorts = process.platform === 'linux';

/** Registers the end of the server with the node, by `onDrain` unless told otherwise, and returns the address at which it listens. */
export async function listening(
	node: ServiceNode,
	name: string,
	host: string,
	opening: Promise<HttpServer>,
	onEnd: ServiceNode['onDrain'] = node.onDrain,
): Promise<Record<string, SurfaceAddress>> {
	const server = await opening;
	if (server.tls) node.certificates.onRenewal(() => void server.renew());
	onEnd(() => server.close(node.config.limits.drainMsMax));
	return { [name]: { host, port: server.port, tls: server.tls } };
}
