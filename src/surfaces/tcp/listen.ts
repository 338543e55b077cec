import { addressSet, parseRange } from '#core/address.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { TlsIdentity } from '../../certificates.ts';
import type { ServiceNode } from '../node.ts';
import type { TcpListenOptions } from './reception.ts';

/** Returns a function that tells whether a peer is listed in TRUSTED_PROXIES. */
export function trustedProxies({ config }: ServiceNode): (address: string) => boolean {
	return addressSet(config.TRUSTED_PROXIES.map((text) => parseRange(text)).filter((range) => range !== undefined));
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
	{ port, tlsPort }: { port: number | 'off'; tlsPort: number | undefined },
): Promise<Record<string, SurfaceAddress>> {
	const { HOST: host, limits } = node.config;
	const sharesPort = node.place.count > 1;
	node.onDrain(() => surface.close(limits.drainMsMax));
	const { certificates } = node;
	const { identity: tls } = certificates;
	const onRenewal = (take: (identity: TlsIdentity) => void) =>
		certificates.onRenewal(() => {
			if (certificates.identity) take(certificates.identity);
		});
	const addresses: Record<string, SurfaceAddress> = port === 'off' ? {} : { [name]: await surface.listen({ host, port, sharesPort }) };
	if (tlsPort !== undefined && tls) addresses[`${name}_tls`] = await surface.listen({ host, port: tlsPort, sharesPort, tls, onRenewal });
	return addresses;
}
