import { dateRange } from '#core/date-range.ts';
import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { type Graded, gradeOf, type Lead } from '#record/identity/grade.ts';
import { isIndexable, systemOf } from '#record/identity/identifier-key.ts';
import { identifying } from '#record/identity/identifying.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { dayBounds } from './date.ts';
import { asObject, asObjects, asText, asTexts } from './elements.ts';
import { plain } from './fold.ts';

/** A request of `Patient/$match`. */
export interface MatchRequest {
	/** The stated patient. */
	patient: JsonObject;
	onlyCertain: boolean;
	/** The largest number of patients in the answer. */
	count: number;
	/** The numbers that identify. */
	numbers: readonly Identifier[];
	/** Names and birth date by which patients are looked for; undefined where no name is stated. */
	person: { words: string[]; born: { from: string; to: string } | undefined } | undefined;
}

/** The largest answer. Whoever looks for one person does not look through more. */
const matchesMax = 50;
const countDefault = 10;
/** A person has few numbers and names. They bound the look-up. */
const numbersMax = 20;
const wordsMax = 8;

/**
 * Reads the Parameters of `Patient/$match` (https://hl7.org/fhir/R4/patient-operation-match.html), or the Patient alone, the only resource among
 * them (FHIR R4 §3.2.0.1.3).
 * @throws Failure for what is neither, and for a patient by whom nobody can be found
 */
export function readMatch(body: JsonObject): MatchRequest {
	const given = new Map(parametersOf(body).map((parameter) => [asText(parameter['name']) ?? '', parameter]));
	for (const name of given.keys()) {
		if (!['resource', 'onlyCertainMatches', 'count'].includes(name))
			throw new Failure('not-supported', 'this parameter of $match is not supported', { location: { expression: named(name) } });
	}
	const patient = asObject(given.get('resource')?.['resource']);
	if (patient?.['resourceType'] !== 'Patient')
		throw new Failure('invalid', 'the parameter resource has a Patient', { location: { expression: 'resource' } });
	const onlyCertain = given.get('onlyCertainMatches')?.['valueBoolean'] ?? false;
	if (typeof onlyCertain !== 'boolean') throw wrong('onlyCertainMatches', 'is true or false');
	const count = given.get('count') === undefined ? countDefault : given.get('count')?.['valueInteger'];
	if (typeof count !== 'number' || count < 1) throw wrong('count', 'is a whole number above 0');
	const numbers = identifying(identifiersOf(patient)).filter((number) => isIndexable(number.value, systemOf(number)));
	const person = personOf(patient);
	if (numbers.length === 0 && person === undefined)
		throw new Failure('invalid', 'a patient is found by an identifier, or by a name of three letters', {
			location: { expression: 'resource' },
		});
	return { patient, onlyCertain, count: Math.min(count, matchesMax), numbers: numbers.slice(0, numbersMax), person };
}

function parametersOf(body: JsonObject): JsonObject[] {
	if (body['resourceType'] === 'Patient') return [{ name: 'resource', resource: body }];
	if (body['resourceType'] === 'Parameters') return asObjects(body['parameter']);
	throw new Failure('invalid', 'a Patient is expected, or a Parameters with the parameter resource');
}

function named(name: string): string {
	return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}

function wrong(name: string, fault: string): Failure {
	return new Failure('invalid', `${name} ${fault}`, { location: { expression: name } });
}

function identifiersOf(patient: JsonObject): Identifier[] {
	return asObjects(patient['identifier']).flatMap((identifier) => {
		const value = asText(identifier['value']);
		return value === undefined || value === '' || value.includes('\0') || systemOf({ ...identifier, value }).includes('\0')
			? []
			: [{ ...identifier, value }];
	});
}

/** An index finds words of three letters and more. */
function personOf(patient: JsonObject): MatchRequest['person'] {
	const birthDate = patient['birthDate'];
	if (birthDate !== undefined && (typeof birthDate !== 'string' || dateRange(birthDate) === undefined))
		throw wrong('Patient.birthDate', 'is not a date');
	const names = asObjects(patient['name']);
	const words = names.flatMap((name) => {
		const parts = [asText(name['family']) ?? '', ...asTexts(name['given'])];
		return (
			plain((parts.join('') === '' ? (asText(name['text']) ?? '') : parts.join(' ')).replaceAll('\0', '')).match(/[\p{L}\p{M}\p{N}]+/gu) ??
			[]
		);
	});
	const found = [...new Set(words.filter((word) => word.length > 2))].slice(0, wordsMax);
	if (found.length === 0) return undefined;
	const [from, to] = dayBounds(asText(birthDate));
	return { words: found, born: from === null || to === null ? undefined : { from, to } };
}

/** A patient of the site whom the stated one may be. */
export interface Candidate {
	rowId: string;
	resource: JsonObject;
	by: Lead['by'];
}

/** Returns the patients of whom something speaks for being the stated one, the surest first. */
export function gradedMatches<Item extends Candidate>(
	{ patient, onlyCertain }: MatchRequest,
	candidates: readonly Item[],
): (Item & { graded: Graded })[] {
	const isOnly = candidates.filter(({ by }) => by !== 'person').length === 1;
	const stated = identifying(identifiersOf(patient));
	const matches = candidates.flatMap((candidate) => {
		const { resource, by } = candidate;
		const graded = gradeOf(resource, patient, { by, isOnly, hasOtherNumber: haveOtherNumber(stated, identifiersOf(resource)) });
		return graded === undefined || (onlyCertain && graded.grade !== 'certain') ? [] : [{ ...candidate, graded }];
	});
	return matches.sort((one, other) => other.graded.score - one.graded.score || (one.rowId < other.rowId ? -1 : 1));
}

/** One authority gives a person one number. */
function haveOtherNumber(stated: readonly Identifier[], held: readonly Identifier[]): boolean {
	const own = identifying(held);
	return stated.some((number) => {
		const system = systemOf(number);
		const same = own.filter((other) => system !== '' && systemOf(other) === system);
		return same.length > 0 && same.every(({ value }) => value !== number.value);
	});
}
