import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { normaliseAddress } from '#core/address.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';

/** What may stand in absolute links beside the address at which the server listens. */
export interface PublicOrigin {
	/** The base of links, without a trailing slash; undefined when none is configured. */
	url?: string | undefined;
	/** Host names, some with a port, that count when a request names them in its Host header. */
	hosts: readonly string[];
}

/** What of a request decides about its links. */
interface Asked {
	host: string | undefined;
	secure: boolean;
}

const anyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

/** Tells whether links of a server that listens there need PUBLIC_URL or PUBLIC_HOSTS to be of use to others. */
export function listensEverywhere(host: string): boolean {
	return anyAddress.has(host);
}

const machineAddresses = () => Object.values(networkInterfaces()).flatMap((list) => list ?? []);

/** Returns scheme, host and port at which a server listens; one that listens everywhere is reached at the first address of this machine that others see. */
export function originOf({ host, port, tls }: SurfaceAddress): string {
	const first = listensEverywhere(host) ? machineAddresses().find(({ internal, family }) => !internal && family === 'IPv4') : undefined;
	return `${tls ? 'https' : 'http'}://${withPort(listensEverywhere(host) ? (first?.address ?? '127.0.0.1') : host, port)}`;
}

/**
 * Says where absolute links lead. The Host header is whatever a caller writes, and a link in a stored Bundle or an export manifest sends
 * others there with their keys. So it counts only for the names that an operator listed.
 */
export class Origins {
	readonly #public: PublicOrigin;
	readonly #hosts: ReadonlySet<string>;
	readonly #own: string;
	/** The addresses of this machine with the port, if the server listens on all of them. */
	readonly #ownHosts: ReadonlySet<string>;

	constructor(configured: PublicOrigin, address: SurfaceAddress) {
		const { host, port } = address;
		this.#public = configured;
		this.#hosts = new Set(configured.hosts.map((name) => name.toLowerCase()));
		const all = listensEverywhere(host) ? machineAddresses() : [];
		this.#own = originOf(address);
		this.#ownHosts = new Set(all.map(({ address }) => withPort(normaliseAddress(address), port)));
	}

	/** Returns scheme, host and port, and the path of PUBLIC_URL if it has one, without a trailing slash. */
	of({ host, secure }: Asked): string {
		const named = host?.toLowerCase();
		if (named !== undefined && this.#isListed(named)) return `${secure ? 'https' : 'http'}://${named}`;
		if (this.#public.url !== undefined) return this.#public.url;
		if (named !== undefined && this.#ownHosts.has(named)) return `${this.#own.slice(0, this.#own.indexOf(':'))}://${named}`;
		return this.#own;
	}

	/** A name without a port is listed for every port. */
	#isListed(host: string): boolean {
		return this.#hosts.size > 0 && (this.#hosts.has(host) || this.#hosts.has(host.replace(/:\d{1,5}$/, '')));
	}
}

function withPort(host: string, port: number): string {
	return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
