import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { TargetPolicy } from './target-policy.ts';

/** A host may not be called. It has the form of an error of the system, because callers tell its code. */
export class ForbiddenTarget extends Error {
	override readonly name = 'ForbiddenTarget';
	readonly code = 'its address is not permitted, ALLOWED_TARGETS may permit it';
}

/**
 * Looks names up as a socket does, and leaves out what the policy does not permit. The socket connects to what it is given here, so a name
 * cannot lead elsewhere after it was checked.
 */
export function permittedLookup(targets: TargetPolicy): LookupFunction {
	return (hostname, options, callback) => {
		lookup(hostname, { ...options, all: true }, (error, found) => {
			if (error) {
				callback(error, []);
				return;
			}
			const permitted = found.filter(({ address }) => targets.permits(address));
			const [first] = permitted;
			if (first === undefined) callback(new ForbiddenTarget(), []);
			else if (options.all) callback(null, permitted);
			else callback(null, first.address, first.family);
		});
	};
}

/** @throws ForbiddenTarget for the text of an address that may not be called; a name is looked up when the socket connects */
export function checkLiteral(targets: TargetPolicy, host: string): void {
	if (isIP(host) !== 0 && !targets.permits(host)) throw new ForbiddenTarget();
}

/** Returns an address of a host, for what cannot look names up itself. @throws ForbiddenTarget, or the error of the look-up */
export function permittedAddress(targets: TargetPolicy, host: string): Promise<string> {
	return new Promise((resolve, reject) => {
		const look = permittedLookup(targets);
		look(host, { all: false, order: 'ipv4first' }, (error, address) => {
			if (error) reject(error);
			else resolve(String(address));
		});
	});
}
