import { normaliseAddress, parseAddress } from '#core/address.ts';

/** Returns the last address of X-Forwarded-For that is no trusted proxy, or the peer. Everything to the left of it is only the sender's own claim. */
export function lastForwarded(
	headers: readonly (readonly [string, string])[],
	peer: string,
	isTrustedProxy: (address: string) => boolean,
): string {
	const hop = headers
		.filter(([name]) => name === 'x-forwarded-for')
		.flatMap(([, value]) => value.split(','))
		.map((entry) => normaliseAddress(entry.trim()))
		.findLast((entry) => entry !== '' && !isTrustedProxy(entry));
	return hop !== undefined && parseAddress(hop) !== undefined ? hop : peer;
}
