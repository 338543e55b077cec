import { isIP } from 'node:net';
import { type AdministrationContext, AdministrationError } from './context.ts';

/**
 * Refuses the text of an address that this service does not call for a site. A name is judged by the addresses that it has when it is called.
 * @param member of the input, which the error names
 * @throws AdministrationError
 */
export function refuseGuarded({ targets }: Pick<AdministrationContext, 'targets'>, host: string, member: string): void {
	if (isIP(host) === 0 || targets.permits(host)) return;
	const text = `'${host}' is a loopback, link-local or metadata address, and ALLOWED_TARGETS does not permit it`;
	throw new AdministrationError(text, 'refused', member);
}
