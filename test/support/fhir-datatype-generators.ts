import type { Arbitrary } from 'fast-check';
import { exactDecimal, type Json, type JsonObject } from '#core/json.ts';
import { fc } from './fuzzing.ts';

/** Arbitraries for the FHIR R4 datatypes: values that are valid, with what senders seldom write among them. */

/** FHIR R4 §2.24.0.1 string: any characters but controls, never empty. */
export const text: Arbitrary<string> = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.constantFrom('Ève', 'Straße', 'line one\nline two', ' padded ', '"quoted" \\ {braces}', '1.00', '血圧', '😀'),
	},
	{ weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((value) => value.trim() !== '') },
);

export const code: Arbitrary<string> = fc.constantFrom('a', 'B-1', 'two words', '8480-6', 'ß');
export const uri: Arbitrary<string> = fc.constantFrom(
	'http://example.org/a',
	'urn:oid:1.2.3.40',
	'urn:uuid:0c369b60-4d48-4b57-b3b4-9ac24f7ec6a5',
	'https://b.example/x?y=z#f',
);
export const identity: Arbitrary<string> = fc.stringMatching(/^[A-Za-z0-9.-]{1,64}$/);

const two = (value: number) => String(value).padStart(2, '0');
const day = fc.date({ min: new Date('1900-01-01T00:00:00Z'), max: new Date('2099-12-31T00:00:00Z'), noInvalidDate: true });

/** Years, months and days. */
export const date: Arbitrary<string> = fc
	.tuple(day, fc.constantFrom(10, 10, 7, 4))
	.map(([value, length]) => value.toISOString().slice(0, length));
const zone = fc.constantFrom('Z', '+02:00', '-05:30', '+14:00');
const moment = (fractions: readonly string[]) =>
	fc
		.tuple(day, fc.nat(23), fc.nat(59), fc.nat(59), fc.constantFrom(...fractions), zone)
		.map(([value, h, m, s, fraction, z]) => `${value.toISOString().slice(0, 10)}T${two(h)}:${two(m)}:${two(s)}${fraction}${z}`);
export const instant: Arbitrary<string> = moment(['', '.1', '.120', '.123456']);
export const dateTime: Arbitrary<string> = fc.oneof(date, instant);
export const time: Arbitrary<string> = fc
	.tuple(fc.nat(23), fc.nat(59), fc.nat(59), fc.constantFrom('', '.5'))
	.map(([h, m, s, f]) => `${two(h)}:${two(m)}:${two(s)}${f}`);

/** As `parseExact` reads it: with fraction, exponent or many digits a raw JSON value, otherwise a number. */
export const decimal: Arbitrary<Json> = fc.oneof(
	fc.integer({ min: -1_000_000, max: 1_000_000 }),
	fc
		.tuple(fc.constantFrom('', '-'), fc.nat(99_999), fc.nat(999), fc.constantFrom('', '0', '00'))
		.map(([sign, whole, fraction, zeros]) => exactDecimal(`${sign}${whole}.${fraction}${zeros}`)),
	fc.constantFrom('1.00', '0.10', '-0.0', '1e3', '2.50E-2', '12345678901234567').map(exactDecimal),
);
export const positiveDecimal: Arbitrary<Json> = fc.oneof(
	fc.integer({ min: 1, max: 1000 }),
	fc
		.tuple(fc.integer({ min: 1, max: 999 }), fc.constantFrom('5', '50', '00'))
		.map(([whole, fraction]) => exactDecimal(`${whole}.${fraction}`)),
);

type Shape = Record<string, Arbitrary<Json>>;

const extensionUrl = fc.constantFrom('http://example.org/extension/a', 'http://example.org/extension/b');
const plainExtension: Arbitrary<JsonObject> = fc
	.tuple(
		extensionUrl,
		fc.oneof(
			text.map((value) => ({ valueString: value })),
			fc.boolean().map((value) => ({ valueBoolean: value })),
			decimal.map((value) => ({ valueDecimal: value })),
			dateTime.map((value) => ({ valueDateTime: value })),
			fc.constant({ valueCoding: { system: 'http://example.org/codes', code: 'x' } }),
			fc.constant({ valueCode: 'unknown', _valueCode: { id: 'v1' } }),
		),
	)
	.map(([url, value]) => ({ url, ...value }));

/** With a value, or with further extensions. */
export const extension: Arbitrary<JsonObject> = fc.oneof(
	{ weight: 4, arbitrary: plainExtension },
	{ weight: 1, arbitrary: fc.tuple(extensionUrl, list(plainExtension, 2)).map(([url, nested]) => ({ url, extension: nested })) },
);

/** A list of one to `max` items; FHIR has no empty lists. */
export function list(item: Arbitrary<Json>, max = 3): Arbitrary<Json[]> {
	return fc.array(item, { minLength: 1, maxLength: max });
}

const notPrimitive = new Set(['resourceType', 'id', 'url', 'div', 'reference', 'contained', 'extension', 'modifierExtension']);
const isPrimitive = (value: Json | undefined): boolean =>
	(typeof value !== 'object' && value !== undefined) || (value !== null && !Array.isArray(value) && 'rawJSON' in (value as object));

/** Gives one of the primitive members its sibling (`_birthDate`), in a list paired by null; sometimes in place of the value. */
function withSibling(element: JsonObject, choice: number, replaces: boolean, sibling: JsonObject): JsonObject {
	const names = Object.keys(element).filter((name) => {
		const value = element[name];
		return !notPrimitive.has(name) && isPrimitive(Array.isArray(value) ? value[0] : value);
	});
	const name = names[choice];
	if (name === undefined) return element;
	const value = element[name] as Json;
	if (!Array.isArray(value)) return { ...element, [`_${name}`]: sibling };
	const at = choice % value.length;
	const pair = value.map((_, index) => (index === at ? sibling : null));
	// An id alone stands in for no value (ele-1).
	const isReplaced = replaces && value.length > 1 && sibling['extension'] !== undefined;
	return {
		...element,
		[name]: isReplaced ? value.map((item, index) => (index === at ? null : item)) : value,
		[`_${name}`]: pair,
	};
}

const siblingContent: Arbitrary<JsonObject> = fc.oneof(
	plainExtension.map((content) => ({ extension: [content] })),
	fc.tuple(identity, plainExtension).map(([id, content]) => ({ id, extension: [content] })),
	identity.map((id) => ({ id })),
);

/** An element: the required members, any of the optional ones, at times an id, extensions and a primitive's sibling. */
export function element(required: Shape, optional: Shape = {}): Arbitrary<JsonObject> {
	const members = fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) }) as Arbitrary<JsonObject>;
	const extras = fc.record({ id: identity, extension: list(extension, 2) }, { requiredKeys: [] }) as Arbitrary<JsonObject>;
	return fc
		.tuple(members, fc.nat(5), extras, fc.nat(20), fc.boolean(), siblingContent)
		.map(([value, luck, more, choice, replaces, sibling]) =>
			withSibling(luck === 0 ? { ...value, ...more } : value, choice, replaces, sibling),
		)
		.filter((value) => Object.keys(value).some((name) => name !== 'id'));
}

/** One of several forms of a choice element, or of several sets of members. */
export function variants(...shapes: Shape[]): Arbitrary<JsonObject> {
	return fc.oneof(...shapes.map((shape) => fc.record(shape) as Arbitrary<JsonObject>));
}

/** Two arbitraries of members in one object. */
export function joined(...parts: Arbitrary<JsonObject>[]): Arbitrary<JsonObject> {
	return fc.tuple(...parts).map((values) => Object.assign({}, ...values));
}

export const coding: Arbitrary<JsonObject> = fc.oneof(
	fc.tuple(uri, code).map(([system, value]) => ({ system, code: value })),
	element({ code }, { system: uri, version: text, display: text, userSelected: fc.boolean() }),
	element({ display: text }),
);
export const codeableConcept: Arbitrary<JsonObject> = fc.oneof(element({ coding: list(coding, 2) }, { text }), element({ text }));

/** A concept out of a value set that is required. */
export function concept(system: string, ...codes: string[]): Arbitrary<JsonObject> {
	return fc.tuple(fc.constantFrom(...codes), fc.option(text, { nil: undefined })).map(([value, words]) => {
		const coded = { coding: [{ system, code: value }] };
		return words === undefined ? coded : { ...coded, text: words };
	});
}

export const codes = (...values: string[]): Arbitrary<string> => fc.constantFrom(...values);

/** In order, or open at an end. */
export const period: Arbitrary<JsonObject> = fc.oneof(
	fc.tuple(instant, instant).map(([a, b]) => (Date.parse(a) <= Date.parse(b) ? { start: a, end: b } : { start: b, end: a })),
	element({ start: dateTime }),
	element({ end: dateTime }),
);

export const identifier: Arbitrary<JsonObject> = element(
	{ value: text },
	{
		use: codes('usual', 'official', 'temp', 'secondary', 'old'),
		type: codeableConcept,
		system: uri,
		period,
		assigner: fc.constant({ display: 'Registry' }),
	},
);

const ucum = fc.constantFrom('mm[Hg]', 'kg', 'cm', '10*9/L');
export const simpleQuantity: Arbitrary<JsonObject> = fc.oneof(
	fc.tuple(decimal, ucum).map(([value, unit]) => ({ value, unit, system: 'http://unitsofmeasure.org', code: unit })),
	element({ value: decimal }, { unit: text }),
);
export const quantity: Arbitrary<JsonObject> = fc
	.tuple(simpleQuantity, fc.option(codes('<', '<=', '>=', '>'), { nil: undefined }))
	.map(([value, comparator]) => (comparator === undefined ? value : { ...value, comparator }));
const amount = (value: number): JsonObject => ({ value, unit: 'd', system: 'http://unitsofmeasure.org', code: 'd' });
export const age: Arbitrary<JsonObject> = fc
	.nat(110)
	.map((years) => ({ value: years + 1, unit: 'years', system: 'http://unitsofmeasure.org', code: 'a' }));
export const range: Arbitrary<JsonObject> = fc.oneof(
	fc.tuple(fc.nat(100), fc.nat(100)).map(([low, more]) => ({ low: amount(low), high: amount(low + more) })),
	fc.nat(100).map((low) => ({ low: amount(low) })),
	fc.nat(100).map((high) => ({ high: amount(high) })),
);
export const ratio: Arbitrary<JsonObject> = fc.tuple(quantity, quantity).map(([numerator, denominator]) => ({ numerator, denominator }));

export const sampledData: Arbitrary<JsonObject> = element(
	{
		origin: simpleQuantity,
		period: positiveDecimal,
		dimensions: fc.integer({ min: 1, max: 12 }),
		data: fc
			.array(fc.oneof(fc.integer().map(String), fc.constantFrom('E', 'L', 'U', '-1.50')), { minLength: 1, maxLength: 6 })
			.map((values) => values.join(' ')),
	},
	{ factor: decimal, lowerLimit: decimal, upperLimit: decimal },
);

export const attachment: Arbitrary<JsonObject> = fc.oneof(
	element(
		{ contentType: codes('text/plain', 'application/pdf', 'text/html; charset=UTF-8') },
		{
			data: fc.uint8Array({ minLength: 1, maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString('base64')),
			language: codes('en', 'de-CH'),
			title: text,
		},
	),
	element({ url: uri }, { size: fc.nat(1_000_000), hash: fc.constant('2jmj7l5rSw0yVb/vlWAYkK/YBwk='), creation: dateTime }),
);

export const humanName: Arbitrary<JsonObject> = element(
	{},
	{
		use: codes('usual', 'official', 'temp', 'nickname', 'anonymous', 'old', 'maiden'),
		text,
		family: text,
		given: list(text),
		prefix: list(text, 2),
		suffix: list(text, 2),
		period,
	},
);

export const contactPoint: Arbitrary<JsonObject> = element(
	{ system: codes('phone', 'fax', 'email', 'pager', 'url', 'sms', 'other'), value: text },
	{ use: codes('home', 'work', 'temp', 'old', 'mobile'), rank: fc.integer({ min: 1, max: 9 }), period },
);

export const address: Arbitrary<JsonObject> = element(
	{},
	{
		use: codes('home', 'work', 'temp', 'old', 'billing'),
		type: codes('postal', 'physical', 'both'),
		text,
		line: list(text),
		city: text,
		district: text,
		state: text,
		postalCode: text,
		country: text,
		period,
	},
);

/** A reference to one of the types, in any of the forms that R4 §2.3.0 knows. */
export function reference(...types: string[]): Arbitrary<JsonObject> {
	return fc.oneof(
		fc.tuple(fc.constantFrom(...types), identity).map(([type, id]) => ({ reference: `${type}/${id}` })),
		fc
			.tuple(fc.constantFrom(...types), identity)
			.map(([type, id]) => ({ reference: `https://fhir.example.org/r4/${type}/${id}/_history/1`, type })),
		fc.constant({ reference: 'urn:uuid:0c369b60-4d48-4b57-b3b4-9ac24f7ec6a5' }),
		element({ identifier }, { display: text }),
		element({ display: text }),
	);
}

export const annotation: Arbitrary<JsonObject> = joined(
	element({ text }, { time: dateTime }),
	fc.oneof(fc.constant({}), variants({ authorString: text }, { authorReference: fc.constant({ reference: 'Practitioner/p1' }) })),
);

/** Repeats by an interval, or a list of moments. */
export const timing: Arbitrary<JsonObject> = fc.oneof<Arbitrary<JsonObject>[]>(
	element({ event: list(dateTime) }),
	fc.constant({
		repeat: {
			boundsPeriod: { start: '2020-01-01' },
			frequency: 1,
			period: 2,
			periodUnit: 'd',
			dayOfWeek: ['mon', 'fri'],
			timeOfDay: ['08:00:00'],
		},
	}),
	fc.constant({ code: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-GTSAbbreviation', code: 'BID' }] } }),
);

export const narrative: Arbitrary<JsonObject> = fc
	.tuple(
		codes('generated', 'extensions', 'additional', 'empty'),
		codes('Seen today', 'A &amp; B', '<b>bold</b><br/>', '<table><tr><td>1</td></tr></table>'),
	)
	.map(([status, content]) => ({
		status,
		div: `<div xmlns="http://www.w3.org/1999/xhtml"><p>${content.startsWith('<table') ? 'x' : content}</p></div>`,
	}));
