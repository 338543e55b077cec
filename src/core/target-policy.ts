import { type AddressRange, addressSet, isOwnHost, parseAddress, parseRange } from './address.ts';

/** Decides which addresses this service calls when a site names a host. */
export interface TargetPolicy {
	permits(address: string): boolean;
}

const loopback = ['127.0.0.0/8', '::1'];

/**
 * Addresses that lead to this machine, to the link it is on, or to the host below it, where credentials of the cloud are handed out. Nobody's
 * archive or modality is there, and what is there trusts whoever can reach it.
 */
const guarded = [
	...loopback,
	'0.0.0.0/8',
	'::',
	'169.254.0.0/16',
	'fe80::/10',
	// Metadata services that are not link-local: of AWS, Alibaba Cloud, Azure and Oracle Cloud.
	'fd00:ec2::/32',
	'100.100.100.200',
	'168.63.129.16',
	'192.0.0.192',
	// Nobody listens alone there.
	'224.0.0.0/4',
	'ff00::/8',
	'255.255.255.255',
];

const rangesOf = (texts: readonly string[]) =>
	texts.map((text) => parseRange(text)).filter((range): range is AddressRange => range !== undefined);

const isGuarded = addressSet(rangesOf(guarded));

/**
 * Makes the policy of a service.
 * @param allowed ranges of guarded addresses that may be called; empty: loopback alone, and only while the service itself serves no other machine
 * @param host where the service listens
 */
export function targetPolicy(allowed: readonly string[], host: string): TargetPolicy {
	const isAllowed = allowed.length > 0 ? addressSet(rangesOf(allowed)) : isOwnHost(host) ? addressSet(rangesOf(loopback)) : () => false;
	return {
		permits(address) {
			const inner = innerAddress(address);
			return parseAddress(inner) !== undefined && (!isGuarded(inner) || isAllowed(inner));
		},
	};
}

/** An IPv6 address that a gateway translates leads to the IPv4 address inside it (RFC 6052 §2.1, RFC 3056 §2). */
function innerAddress(address: string): string {
	const bytes = parseAddress(address);
	if (bytes?.length !== 16) return address;
	const begins = (...prefix: number[]) => prefix.every((byte, index) => bytes[index] === byte);
	if (begins(0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0)) return bytes.slice(12).join('.');
	return begins(0x20, 0x02) ? bytes.slice(2, 6).join('.') : address;
}

/** The operator of the service may name any host, this machine among them. */
export const everyTarget: TargetPolicy = { permits: (address) => parseAddress(address) !== undefined };
