import type { Address } from '../datatypes.ts';
import { joined } from './text.ts';

/** The parts of an address in a message; '' for a missing one. */
export interface AddressParts {
	line: string[];
	city: string;
	district: string;
	state: string;
	postalCode: string;
	country: string;
	use: string | undefined;
	type: string | undefined;
}

/** Builds an Address with its text from the parts. `text` is used when there are none. Undefined when that is '' too. */
export function addressOf({ line, city, district, state, postalCode, country, use, type }: AddressParts, text = ''): Address | undefined {
	const place = [...line, city, joined(state, postalCode), district, country].filter((part) => part !== '').join(', ') || text;
	if (place === '') return undefined;
	const result: Address = {};
	if (use !== undefined) result.use = use;
	if (type !== undefined) result.type = type;
	result.text = place;
	if (line.length > 0) result.line = line;
	if (city !== '') result.city = city;
	if (district !== '') result.district = district;
	if (state !== '') result.state = state;
	if (postalCode !== '') result.postalCode = postalCode;
	if (country !== '') result.country = country;
	return result;
}
