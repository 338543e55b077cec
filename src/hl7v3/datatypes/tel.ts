import type { ContactPoint } from '#fhir/datatypes.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { Context } from '../context.ts';
import type { XmlElement } from '../element.ts';
import { codesOf, period } from './ts.ts';

/** URLScheme (2.16.840.1.113883.5.143). */
const systems: Readonly<Record<string, string>> = {
	tel: 'phone',
	'x-text-tel': 'phone',
	modem: 'other',
	fax: 'fax',
	'x-text-fax': 'fax',
	mailto: 'email',
	sms: 'sms',
	http: 'url',
	https: 'url',
	ftp: 'url',
};

/** TelecommunicationAddressUse (2.16.840.1.113883.5.1119), most telling first. */
const uses: Readonly<Record<string, string>> = {
	BAD: 'old',
	TMP: 'temp',
	MC: 'mobile',
	HP: 'home',
	HV: 'home',
	H: 'home',
	WP: 'work',
	DIR: 'work',
	PUB: 'work',
	W: 'work',
};

/** TEL (Data Types R1 §2.12) as ContactPoint. A value without a scheme is an e-mail address when it has an @, else a phone number. */
function contactPoint(element: XmlElement, context: Context): ContactPoint | undefined {
	const text = element.isNull ? '' : element.attribute('value');
	const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
	const listed = scheme === undefined ? undefined : entryOf(systems, scheme);
	const codes = codesOf(element, 'use');
	let system = listed ?? (text.includes('@') ? 'email' : scheme === undefined ? 'phone' : 'other');
	if (system === 'phone' && codes.includes('PG')) system = 'pager';
	// In a whole URL, and with an unknown scheme, the scheme is part of the value.
	const value = listed === undefined || system === 'url' ? text : decoded(text.slice((scheme?.length ?? 0) + 1));
	if (value === '') return undefined;
	const point: ContactPoint = { system, value };
	const use = Object.keys(uses).find((code) => codes.includes(code));
	if (use !== undefined) point.use = uses[use] as string;
	const valid = period(element.first('useablePeriod'), context);
	if (valid) point.period = valid;
	return point;
}

/** Percent-encoding undone (RFC 3986 §2.1), where it is one. */
function decoded(text: string): string {
	const bare = text.startsWith('//') ? text.slice(2) : text;
	try {
		return decodeURIComponent(bare).trim();
	} catch (error) {
		if (error instanceof URIError) return bare.trim();
		throw error;
	}
}

/** Every one with content, in order. */
export function contactPoints(elements: readonly XmlElement[], context: Context): ContactPoint[] {
	return elements.map((element) => contactPoint(element, context)).filter((found) => found !== undefined);
}
