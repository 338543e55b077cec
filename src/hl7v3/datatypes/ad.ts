import type { Address } from '#fhir/datatypes.ts';
import { addressOf } from '#fhir/mapping/address.ts';
import { joined } from '#fhir/mapping/text.ts';
import type { Context } from '../context.ts';
import type { XmlElement } from '../element.ts';
import { codesOf, period } from './ts.ts';

/** AddressUse (2.16.840.1.113883.5.1119), most telling first. */
const uses: Readonly<Record<string, string>> = {
	BAD: 'old',
	OLD: 'old',
	TMP: 'temp',
	BIL: 'billing',
	HP: 'home',
	HV: 'home',
	H: 'home',
	WP: 'work',
	DIR: 'work',
	PUB: 'work',
};
const types: Readonly<Record<string, string>> = { PST: 'postal', PHYS: 'physical' };

/** AD (Data Types R1 §2.15) as Address; undefined without content. */
export function address(element: XmlElement, context: Context): Address | undefined {
	if (element.isNull) return undefined;
	const text = (name: string) => textOf(element, name)[0] ?? '';
	const codes = codesOf(element, 'use');
	const firstOf = (listed: Readonly<Record<string, string>>) => Object.entries(listed).find(([code]) => codes.includes(code))?.[1];
	const parts = {
		line: linesOf(element),
		city: text('city'),
		state: text('state'),
		postalCode: text('postalCode'),
		country: text('country'),
		district: text('county'),
		use: firstOf(uses),
		type: firstOf(types),
	};
	const result = addressOf(parts, element.text);
	if (result === undefined) return undefined;
	const valid = period(element.first('useablePeriod'), context);
	if (valid) result.period = valid;
	return result;
}

const streetParts: ReadonlySet<string> = new Set([
	...['houseNumber', 'houseNumberNumeric', 'buildingNumberSuffix', 'direction'],
	...['streetName', 'streetNameBase', 'streetNameType'],
]);
const furtherLines = ['deliveryAddressLine', 'unitType', 'unitID', 'additionalLocator', 'careOf', 'postBox', 'precinct'];

/** Street lines as sent, the street from its parts in their order, and what tells more of the place. */
function linesOf(element: XmlElement): string[] {
	const street = element.children().filter((part) => streetParts.has(part.name) && !part.isNull);
	const lines = [...textOf(element, 'streetAddressLine'), joined(...street.map((part) => part.text))];
	return [...lines, ...furtherLines.flatMap((name) => textOf(element, name))].filter((part) => part !== '');
}

function textOf(element: XmlElement, name: string): string[] {
	return element
		.children(name)
		.filter((part) => !part.isNull)
		.map((part) => part.text)
		.filter((part) => part !== '');
}

/** Every one with content, in order. */
export function addresses(elements: readonly XmlElement[], context: Context): Address[] {
	return elements.map((element) => address(element, context)).filter((found) => found !== undefined);
}
