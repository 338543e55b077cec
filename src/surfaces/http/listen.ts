import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { ServiceNode } from '../node.ts';
import type { PublicOrigin } from './origin.ts';
import type { HttpServer, HttpServerOptions } from './server.ts';

/** Returns the options that all HTTP surfaces of the node share. */
export function httpOptions({ config, metrics, log, place }: ServiceNode): Pick<
	HttpServerOptions,
	'host' | 'sharesPort' | 'tls' | 'trustedProxies' | 'limits' | 'metrics' | 'log'
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
	return { host, sharesPort: place.count > 1, tls, trustedProxies, publicOrigin: { hosts }, limits, metrics, log };
}

/** Registers the end of the server with the node and returns the address at which it listens. */
export async function listening(
	node: ServiceNode,
	name: string,
	host: string,
	opening: Promise<HttpServer>,
): Promise<Record<string, SurfaceAddress>> {
	const server = await opening;
	node.onClose(() => server.close(node.config.limits.drainMsMax));
	return { [name]: { host, port: server.port, tls: server.tls } };
}
