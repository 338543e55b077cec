import { readFileSync } from 'node:fs';
import { addressSet, parseRange } from '#core/address.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { ServiceNode } from '../node.ts';
import type { TcpListenOptions } from './reception.ts';

/** Returns a function that tells whether a peer is listed in TRUSTED_PROXIES. */
export function trustedProxies({ config }: ServiceNode): (address: string) => boolean {
	return addressSet(config.TRUSTED_PROXIES.map((text) => parseRange(text)).filter((range) => range !== undefined));
}

/** Returns the certificate of the node and, if clients need a certificate, the authority that issues it. */
export function tlsIdentity({ config }: ServiceNode): { cert: Buffer; key: Buffer; clientCa?: Buffer } | undefined {
	if (!config.TLS_CERT_FILE || !config.TLS_KEY_FILE) return undefined;
	const tls = { cert: readFileSync(config.TLS_CERT_FILE), key: readFileSync(config.TLS_KEY_FILE) };
	return config.TLS_CLIENT_CA_FILE === undefined ? tls : { ...tls, clientCa: readFileSync(config.TLS_CLIENT_CA_FILE) };
}

interface TcpSurface {
	listen(options: TcpListenOptions): Promise<SurfaceAddress>;
	close(withinMs: number): Promise<void>;
}

/** Listens on the plain port of a protocol and, if it has one, on its TLS port. Registers the end of both with the node. */
export async function plainAndTls(
	node: ServiceNode,
	name: string,
	surface: TcpSurface,
	{ port, tlsPort }: { port: number; tlsPort: number | undefined },
): Promise<Record<string, SurfaceAddress>> {
	const { HOST: host, limits } = node.config;
	const sharesPort = node.place.count > 1;
	node.onClose(() => surface.close(limits.drainMsMax));
	const tls = tlsIdentity(node);
	const addresses: Record<string, SurfaceAddress> = { [name]: await surface.listen({ host, port, sharesPort }) };
	if (tlsPort !== undefined && tls) addresses[`${name}_tls`] = await surface.listen({ host, port: tlsPort, sharesPort, tls });
	return addresses;
}
