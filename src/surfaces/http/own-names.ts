import { isIP, isIPv6 } from 'node:net';
import { Failure } from '#core/failure.ts';
import type { HttpRequest } from './message.ts';

/** The settings that say under which names a surface may be reached. */
export interface OwnNamesOptions {
	/** The names that the operator listed for it; `*` stands for every name. */
	listed: readonly string[];
	/** Other names that lead here, each with a port or without. */
	others: readonly string[];
	/** URLs that lead here, as far as they are known. */
	urls: readonly (string | undefined)[];
}

/**
 * The names under which a surface may be reached that answers without a key, or by the cookie of a browser. A page of another name can have that
 * name resolved to an address inside the network (DNS rebinding). A browser then takes the answers of this service for those of the page's own
 * origin, and the Host header is all that tells: it still has the name of the page.
 */
export class OwnNames {
	readonly #names: ReadonlySet<string>;
	readonly #isAny: boolean;

	constructor({ listed, others, urls }: OwnNamesOptions) {
		const fromUrls = urls.flatMap((url) => (url === undefined ? [] : [new URL(url).host]));
		this.#isAny = listed.includes('*');
		this.#names = new Set([...listed, ...others, ...fromUrls].map((name) => nameIn(name) ?? name));
	}

	/**
	 * Lets a request by TLS pass, because a browser compares the name with the certificate before it sends one.
	 * @throws Failure `misdirected` when a request by plain HTTP names none of them
	 */
	check({ secure, header }: Pick<HttpRequest, 'secure' | 'header'>): void {
		if (secure || this.#isAny) return;
		const name = nameIn(header('host') ?? '');
		if (name !== undefined && this.#isOurs(name)) return;
		const which = name === undefined ? 'the Host header has no name that can be read' : `the name '${name}' is not one of this surface`;
		throw new Failure(
			'misdirected',
			`${which}: use localhost or an IP address, or have OPERATOR_HOSTS list the name under which the service is reached`,
		);
	}

	/** Nobody else can have an address, or localhost (RFC 6761 §6.3), lead to another place. */
	#isOurs(name: string): boolean {
		return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || this.#names.has(name);
	}
}

/** Returns the name or address of a Host header in lower case, without the port, the brackets of IPv6 and the dot of the root. */
function nameIn(host: string): string | undefined {
	const [, address, name] = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(host) ?? [];
	if (address !== undefined) return isIPv6(address) ? address.toLowerCase() : undefined;
	return name?.toLowerCase().replace(/\.$/, '');
}
