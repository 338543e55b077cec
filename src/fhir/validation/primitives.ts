import { type core, z } from 'zod/mini';
import { controlCharacter } from '../mapping/text.ts';
import { fault, isExactNumber } from './fault.ts';
import { xhtmlFault } from './xhtml.ts';

/**
 * The primitive types of FHIR R4 §2.24.0.1 as zod schemas. The rules are the expressions of the StructureDefinitions, written so that each
 * takes
 * time linear in the text and no stack. The calendar, lengths and control characters, which those expressions cannot state, are checked
 * too.
 * Faults are described in words that quote nothing of the value.
 */

/** The name of each primitive type by its schema. The name also ends that of a choice element: `valueDateTime`. */
export const primitiveTypes = z.registry<{ type: string }>();

/** A rule returns a description of the fault, or undefined. */
type Rule = (value: string) => string | undefined;

function text(type: string, rule: Rule) {
	const schema = z.string('A text in quotes is expected').check(({ value, issues }) => {
		const words = value === '' ? 'A text is never empty' : rule(value);
		if (words !== undefined) issues.push(fault('value', words));
	});
	return schema.register(primitiveTypes, { type });
}

const matching = (type: string, pattern: RegExp, words: string) => text(type, (value) => (pattern.test(value) ? undefined : words));

/** R4 allows a string 1 MB, counted in characters. */
const charactersMax = 1_048_576;

const noSpace = /\s/;

function stringRule(value: string): string | undefined {
	if (value.length > charactersMax && [...value].length > charactersMax) return 'A text has at most 1,048,576 characters';
	return controlCharacter.test(value) ? 'A text has no control characters but tab, line feed and carriage return' : undefined;
}

export const string = text('string', stringRule);
export const markdown = text('markdown', stringRule);
/** The id of an element, R4 §2.24.0.3: any text without spaces. */
export const elementId = text('string', (value) =>
	noSpace.test(value) || controlCharacter.test(value) ? 'The id of an element has no spaces' : undefined,
);
export const id = matching('id', /^[A-Za-z0-9.-]{1,64}$/, 'An id is 1 to 64 letters, digits, hyphens and dots');

export const xhtml = text('xhtml', xhtmlFault);

const codeFault = /^\s|\s\s|\s$/;
export const code = text('code', codeRule);

function codeRule(value: string): string | undefined {
	return codeFault.test(value) || controlCharacter.test(value)
		? 'A code neither begins nor ends with a space, and has no two in a row'
		: undefined;
}

const withoutSpaces = (type: string) =>
	text(type, (value) => (noSpace.test(value) || controlCharacter.test(value) ? 'A URI has no spaces' : undefined));
export const uri = withoutSpaces('uri');
export const url = withoutSpaces('url');
export const canonical = withoutSpaces('canonical');
const notInOid = /[^\d.]|\.0\d|\.\.|\.$/;
export const oid = text('oid', (value) =>
	/^urn:oid:[0-2]\.\d/.test(value) && !notInOid.test(value.slice(8)) ? undefined : 'An OID is urn:oid: and numbers between dots',
);
export const uuid = matching(
	'uuid',
	/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
	'A UUID is urn:uuid: and 32 lower-case hexadecimal digits in five groups',
);

const notBase64 = /[^A-Za-z0-9+/=\s]/;
const paddingWithin = /=\s*[^=\s]/;
export const base64Binary = text('base64Binary', (value) => {
	const length = value.length % 4 === 0 && !noSpace.test(value) ? 0 : value.replaceAll(/\s+/g, '').length;
	const wellFormed = length % 4 === 0 && !notBase64.test(value) && !paddingWithin.test(value) && !/={3}/.test(value);
	return wellFormed && /\S/.test(value) ? undefined : 'Base64 comes in groups of four characters, filled up with = at the end';
});

const timeOfDay = '(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60)(?:\\.\\d+)?';
const zone = '(?:Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))';
const year = '(?!0000)\\d{4}';
const month = '(?:0[1-9]|1[0-2])';
const day = '(?:0[1-9]|[12]\\d|3[01])';

function calendar(type: string, pattern: string, words: string) {
	const expression = new RegExp(`^${pattern}$`);
	return text(type, (value) => {
		if (!expression.test(value)) return words;
		return existingDay(value) ? undefined : 'The calendar has no such day';
	});
}

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Tells whether the day of a text that begins with `YYYY-MM-DD` exists; true for a shorter text. */
function existingDay(value: string): boolean {
	const date = value.length < 10 ? 0 : Number(value.slice(8, 10));
	if (date < 29) return true;
	const ofMonth = Number(value.slice(5, 7));
	if (ofMonth !== 2) return date <= (daysOfMonth[ofMonth - 1] ?? 0);
	const ofYear = Number(value.slice(0, 4));
	return date === 29 && ofYear % 4 === 0 && (ofYear % 100 !== 0 || ofYear % 400 === 0);
}

export const date = calendar('date', `${year}(?:-${month}(?:-${day})?)?`, 'A date is YYYY, YYYY-MM or YYYY-MM-DD');
export const dateTime = calendar(
	'dateTime',
	`${year}(?:-${month}(?:-${day}(?:T${timeOfDay}${zone})?)?)?`,
	'A dateTime is YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with a time zone',
);
export const instant = calendar(
	'instant',
	`${year}-${month}-${day}T${timeOfDay}${zone}`,
	'An instant is YYYY-MM-DDThh:mm:ss with a time zone',
);
export const time = matching('time', new RegExp(`^${timeOfDay}$`), 'A time is hh:mm:ss');

export const boolean = z.boolean('true or false is expected, without quotes').register(primitiveTypes, { type: 'boolean' });

/** R4 limits the three integer types to 31 bits and a sign. A number written with a fraction or exponent is not an integer. */
function whole(type: string, min: number, words: string) {
	const schema = z.unknown().check(({ value, issues }) => {
		if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= 2_147_483_647) return;
		const isNumber = typeof value === 'number' || isExactNumber(value);
		issues.push(isNumber ? fault('value', words) : fault('structure', 'A number is expected, without quotes'));
	});
	return schema.register(primitiveTypes, { type });
}

export const integer = whole(
	'integer',
	-2_147_483_648,
	'A whole number from -2,147,483,648 to 2,147,483,647 is expected, without fraction',
);
export const unsignedInt = whole('unsignedInt', 0, 'A whole number from 0 to 2,147,483,647 is expected, without fraction');
export const positiveInt = whole('positiveInt', 1, 'A whole number from 1 to 2,147,483,647 is expected, without fraction');

/** No measurement has more digits, and a database computes with all of them. */
const decimalDigitsMax = 64;
/** A double has no larger exponent. */
const decimalExponentMax = 308;

export const decimal = z
	.unknown()
	.check(({ value, issues }) => {
		if (typeof value === 'number') return;
		if (!isExactNumber(value)) issues.push(fault('structure', 'A number is expected, without quotes'));
		else if (!inRange(value.rawJSON)) issues.push(fault('value', 'A decimal has at most 64 digits and an exponent from -308 to 308'));
	})
	.register(primitiveTypes, { type: 'decimal' });

function inRange(digits: string): boolean {
	const at = digits.search(/[eE]/);
	const length = (at < 0 ? digits : digits.slice(0, at)).length;
	return length <= decimalDigitsMax + 2 && (at < 0 || Math.abs(Number(digits.slice(at + 1))) <= decimalExponentMax);
}

/** Makes the schema of a code with a required value set: its codes, of whatever system. */
export function codes(...values: string[]): core.$ZodType {
	return z.enum(values, 'The code is not one of the value set that is required here').register(primitiveTypes, { type: 'code' });
}

/** ISO 4217, which the definitions do not list. */
export const currency = matching('code', /^[A-Z]{3}$/, 'A currency is three capital letters (ISO 4217)');
/** RFC 6838 §4.2 allows 127 characters for each of the two names; the rest is for parameters. */
const mediaTypeLengthMax = 512;
/** BCP 13 (RFC 6838) with parameters. R4 also uses it for the bare `json` and `xml` of CapabilityStatement.format. */
export const mimeType = text('code', (value) =>
	value.length <= mediaTypeLengthMax && /^[\w.!#$&^+-]+(?:\/[\w.!#$&^+*-]+)?(?:\s?;\s?[^;\s]+)*$/.test(value)
		? undefined
		: 'A media type is expected (BCP 13)',
);
