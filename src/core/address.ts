import ipaddr from 'ipaddr.js';

/** An IPv4 or IPv6 address as bytes; IPv4-mapped IPv6 (RFC 4291 §2.5.5.2) is IPv4. */
export type AddressBytes = readonly number[];

export function parseAddress(text: string): AddressBytes | undefined {
	// A zone (`fe80::1%eth0`) names an interface, not the address.
	const zone = text.indexOf('%');
	const address = zone < 0 ? text : text.slice(0, zone);
	return ipaddr.isValid(address) && isCanonical(address) ? ipaddr.process(address).toByteArray() : undefined;
}

/** Converts `::ffff:10.0.0.1` to `10.0.0.1`; a text that is no address stays as it is. */
export function normaliseAddress(text: string): string {
	return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text;
}

/**
 * Returns whom an address stands for where callers have shares: an IPv4 address itself, an IPv6 address its /64, because one machine has
 * all addresses of it (RFC 4291 §2.5.4).
 */
export function holderOf(text: string): string {
	const bytes = parseAddress(text);
	if (bytes === undefined) return text;
	if (bytes.length === 4) return bytes.join('.');
	return `${ipaddr.fromByteArray([...bytes.slice(0, 8), 0, 0, 0, 0, 0, 0, 0, 0]).toString()}/64`;
}

/** Addresses with a common prefix; `*` is the empty prefix of both families. */
export interface AddressRange {
	/** The range as written. */
	readonly text: string;
	readonly bytes: AddressBytes | undefined;
	readonly prefixBits: number;
}

/** Reads a single address, a CIDR range or `*`; undefined when it is none of them. */
export function parseRange(text: string): AddressRange | undefined {
	if (text === '*') return { text, bytes: undefined, prefixBits: 0 };
	const slash = text.indexOf('/');
	if (slash < 0) {
		const bytes = parseAddress(text);
		return bytes && { text, bytes, prefixBits: bytes.length * 8 };
	}
	const address = text.slice(0, slash);
	const prefix = text.slice(slash + 1);
	if (!/^\d{1,3}$/.test(prefix) || !ipaddr.isValid(address) || !isCanonical(address)) return undefined;
	const parsed = ipaddr.parse(address);
	const bits = Number(prefix);
	if (bits > parsed.toByteArray().length * 8) return undefined;
	const mapped = parsed.kind() === 'ipv6' && (parsed as ipaddr.IPv6).isIPv4MappedAddress();
	if (!mapped) return { text, bytes: parsed.toByteArray(), prefixBits: bits };
	return bits < 96 ? undefined : { text, bytes: (parsed as ipaddr.IPv6).toIPv4Address().toByteArray(), prefixBits: bits - 96 };
}

/** Tells whether a range takes in so much that a policy has to allow it: `*`, IPv4 below /8, IPv6 below /16. */
export function isAnySource({ bytes, prefixBits }: AddressRange): boolean {
	return bytes === undefined || prefixBits < (bytes.length === 4 ? 8 : 16);
}

export function rangeContains(range: AddressRange, address: AddressBytes): boolean {
	if (range.bytes === undefined) return true;
	if (range.bytes.length !== address.length) return false;
	const whole = range.prefixBits >> 3;
	for (let index = 0; index < whole; index++) if (range.bytes[index] !== address[index]) return false;
	const rest = range.prefixBits & 7;
	if (rest === 0) return true;
	const mask = 0xff << (8 - rest);
	return ((range.bytes[whole] ?? 0) & mask) === ((address[whole] ?? 0) & mask);
}

/** Tells whether one of the ranges contains the other. */
export function rangesOverlap(one: AddressRange, other: AddressRange): boolean {
	const [wider, narrower] = one.prefixBits <= other.prefixBits ? [one, other] : [other, one];
	return narrower.bytes === undefined || rangeContains(wider, narrower.bytes);
}

/**
 * Tells whether an address is written in the usual form. ipaddr.js also reads `10.1`, octal and hexadecimal parts; those are refused,
 * because their
 * meaning is ambiguous.
 */
function isCanonical(address: string): boolean {
	return address.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(address);
}

/** Returns a test for membership in a list of ranges, such as TRUSTED_PROXIES. */
export function addressSet(ranges: readonly AddressRange[]): (address: string) => boolean {
	return (address) => {
		const bytes = parseAddress(address);
		return bytes !== undefined && ranges.some((range) => rangeContains(range, bytes));
	};
}

/** Tells whether only this machine reaches an address (127.0.0.0/8, ::1). */
export function isLoopback(address: AddressBytes): boolean {
	if (address.length === 4) return address[0] === 127;
	return address.every((byte, index) => byte === (index === 15 ? 1 : 0));
}

/** Tells whether only this machine reaches what listens at a host: `localhost`, or a loopback address. A name may lead anywhere. */
export function isOwnHost(host: string): boolean {
	const bytes = parseAddress(host);
	return host === 'localhost' || (bytes !== undefined && isLoopback(bytes));
}
