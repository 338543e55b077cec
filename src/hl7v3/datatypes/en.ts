import type { JsonObject } from '#core/json.ts';
import type { HumanName } from '#fhir/datatypes.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { joined } from '#fhir/mapping/text.ts';
import { type NameRepresentation, representation } from '#record/name-representation.ts';
import type { Context } from '../context.ts';
import type { XmlElement } from '../element.ts';
import { codesOf, period } from './ts.ts';

/** EntityNameUse (2.16.840.1.113883.5.45); uses that FHIR's name-use does not know are left out, most telling first. */
const uses: Readonly<Record<string, string>> = {
	OLD: 'old',
	BAD: 'old',
	TMP: 'temp',
	T: 'temp',
	ANON: 'anonymous',
	P: 'nickname',
	A: 'nickname',
	L: 'official',
	C: 'official',
	OR: 'official',
	ASGN: 'usual',
};

/** EntityNameUse has these too: they say how a name is written. */
const representations = ['ABC', 'IDE', 'SYL'] as const satisfies readonly NameRepresentation[];

const qualifierUrl = 'http://hl7.org/fhir/StructureDefinition/iso21090-EN-qualifier';
/** EntityNamePartQualifier that say how a part is used, and so make it part of a name of its own. */
const birth = 'BR';
const callMe = 'CL';

interface Part {
	text: string;
	qualifiers: string[];
}

/**
 * EN and PN (Data Types R1 §2.17) as names: the name itself, and one of its own for a name at birth (BR) and a name to be
 * called by (CL). Uses ABC, IDE and SYL say how a name is written. Other qualifiers stand beside their part as the extension that ISO 21090 has for them.
 */
function humanNames(element: XmlElement, context: Context): HumanName[] {
	if (element.isNull) return [];
	const families = partsOf(element, 'family');
	const givens = partsOf(element, 'given');
	const current = families.filter(({ qualifiers }) => !qualifiers.includes(birth));
	const atBirth = families.filter(({ qualifiers }) => qualifiers.includes(birth));
	const calledBy = givens.filter(({ qualifiers }) => qualifiers.includes(callMe));
	const given = givens.filter((part) => !calledBy.includes(part) || givens.length === 1);
	const prefix = partsOf(element, 'prefix');
	const suffix = partsOf(element, 'suffix');
	const written = writtenAs(element);
	const names: HumanName[] = [];
	const onlyBirth = current.length === 0 && atBirth.length > 0;
	const name = personName(onlyBirth ? atBirth : current, { given, prefix, suffix }, element.text);
	if (name) {
		const use = onlyBirth ? 'maiden' : useOf(element);
		const valid = period(element.first('validTime'), context);
		names.push({ ...written, ...(use === undefined ? {} : { use }), ...name, ...(valid === undefined ? {} : { period: valid }) });
	}
	if (!onlyBirth && atBirth.length > 0) {
		const maiden = personName(atBirth, { given, prefix: [], suffix: [] }, '');
		if (maiden) names.push({ ...written, use: 'maiden', ...maiden });
	}
	if (given.length > 0)
		for (const { text } of calledBy) if (givens.length > 1) names.push({ ...written, use: 'nickname', text, given: [text] });
	return names;
}

/** Every name, in order. */
export function namesOf(elements: readonly XmlElement[], context: Context): HumanName[] {
	return elements.flatMap((element) => humanNames(element, context));
}

function useOf(element: XmlElement): string | undefined {
	const found = codesOf(element, 'use').map((code) => entryOf(uses, code));
	return Object.values(uses).find((use) => found.includes(use));
}

/** A name that does not say how it is written is alphabetic. */
function writtenAs(element: XmlElement): Partial<ReturnType<typeof representation>> {
	const found = codesOf(element, 'use');
	const code = representations.find((one) => found.includes(one));
	return code === undefined ? {} : representation(code);
}

function partsOf(element: XmlElement, name: string): Part[] {
	return element
		.children(name)
		.filter((part) => !part.isNull && part.text !== '')
		.map((part) => ({ text: part.text, qualifiers: codesOf(part, 'qualifier') }));
}

interface Others {
	given: Part[];
	prefix: Part[];
	suffix: Part[];
}

/** `plain` is what a name without parts consists of. Undefined when there is nothing that names anybody. */
function personName(families: readonly Part[], { given, prefix, suffix }: Others, plain: string): HumanName | undefined {
	const family = joined(...texts(families));
	const text = joined(...texts(prefix), ...texts(given), family, ...texts(suffix));
	if (families.length + given.length + prefix.length === 0) return plain === '' ? undefined : { text: plain };
	const name: HumanName & JsonObject = { text };
	if (family !== '') name.family = family;
	const familyQualifiers = families.length === 1 ? qualifiersOf(families[0]) : null;
	if (familyQualifiers) name['_family'] = familyQualifiers;
	for (const [element, parts] of [
		['given', given],
		['prefix', prefix],
		['suffix', suffix],
	] as const) {
		if (parts.length === 0) continue;
		name[element] = texts(parts);
		const qualifiers = parts.map(qualifiersOf);
		if (qualifiers.some((found) => found !== null)) name[`_${element}`] = qualifiers;
	}
	return name;
}

function texts(parts: readonly Part[]): string[] {
	return parts.map(({ text }) => text);
}

/** The codes of FHIR's name-part-qualifier; BR and CL are uses of the whole name here. */
const qualifierCodes: ReadonlySet<string> = new Set(['LS', 'AC', 'NB', 'PR', 'HON', 'AD', 'SP', 'MID', 'IN', 'VV']);

function qualifiersOf(part: Part | undefined): JsonObject | null {
	const codes = (part?.qualifiers ?? []).filter((code) => qualifierCodes.has(code));
	return codes.length === 0 ? null : { extension: codes.map((valueCode) => ({ url: qualifierUrl, valueCode })) };
}
