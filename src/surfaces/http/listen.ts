import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { ServiceNode } from '../node.ts';
import type { HttpServer, HttpServerOptions } from './server.ts';

/** What an HTTP surface of the node listens and answers by, beside its routes. */
export function httpOptions({
	config,
	metrics,
	log,
}: ServiceNode): Pick<HttpServerOptions, 'host' | 'tls' | 'trustedProxies' | 'limits' | 'metrics' | 'log'> {
	const { HOST: host, TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TRUSTED_PROXIES: trustedProxies, limits } = config;
	return { host, tls: certFile && keyFile ? { certFile, keyFile } : undefined, trustedProxies, limits, metrics, log };
}

/** Hands the server's end to the node, and answers where it listens. */
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
