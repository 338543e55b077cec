import { actorsLike, beginningsOf, controlsLike, numbersLike, patientsLike, typesLike } from '#storage/statements/administrative/alike.ts';
import { AdministrationError, type OperationContext } from './context.ts';

/** One search looks up this many control ids at most. */
const controlsMax = 2000;

/** Lists the types of messages that begin with a text, in any case. */
export async function typesAlike({ database }: OperationContext, siteIds: readonly string[] | null, text: string): Promise<string[]> {
	const rows = await database.rows<{ message_type: string }>(typesLike, [siteIds, text.trim()]);
	return rows.map(({ message_type: type }) => type);
}

/**
 * Lists the control ids that begin with a text, in any case. Where too many do, only those that are the text itself.
 * @throws AdministrationError if too many begin with it, and none is the text itself
 */
export async function controlsAlike({ database }: OperationContext, siteIds: readonly string[] | null, text: string): Promise<string[]> {
	const given = text.trim();
	const rows = await database.rows<{ control_id: string }>(controlsLike, [siteIds, beginningsOf(given), controlsMax + 1]);
	const found = rows.map(({ control_id: id }) => id);
	return fewOf(found, (id) => id, { given, most: controlsMax, noun: 'control ids', field: 'control_id' });
}

/** One search looks up this many numbers of a kind at most. */
const numbersMax = 200;

/**
 * Lists the numbers of a kind that begin with a text, in any case. Where too many do, only those that are the text itself.
 * @throws AdministrationError if too many begin with it, and none is the text itself
 */
export async function numbersAlike(
	{ database }: OperationContext,
	siteIds: readonly string[] | null,
	{ kind, text, field }: { kind: keyof typeof numbersLike; text: string; field: string },
): Promise<string[]> {
	const given = text.trim();
	const rows = await database.rows<{ value: string }>(numbersLike[kind], [siteIds, beginningsOf(given), numbersMax + 1]);
	const found = rows.map(({ value }) => value);
	return fewOf(found, (value) => value, { given, most: numbersMax, noun: 'numbers', field });
}

export interface NumberedPatient {
	value: string;
	site_id: string;
	/** Row id. */
	patient_id: string;
}

/** Lists the patients with a number that begins with a text, as `numbersAlike` does; a patient may be listed by several. */
export async function patientsAlike(
	{ database }: OperationContext,
	siteIds: readonly string[] | null,
	{ text, field }: { text: string; field: string },
): Promise<NumberedPatient[]> {
	const given = text.trim();
	const rows = await database.rows<NumberedPatient>(patientsLike, [siteIds, beginningsOf(given), numbersMax + 1]);
	return fewOf(rows, ({ value }) => value, { given, most: numbersMax, noun: 'numbers of patients', field });
}

function fewOf<T>(
	found: readonly T[],
	textOf: (one: T) => string,
	{ given, most, noun, field }: { given: string; most: number; noun: string; field: string },
): T[] {
	if (found.length <= most) return [...found];
	const same = found.filter((one) => textOf(one).toLowerCase() === given.toLowerCase());
	if (same.length > 0) return same;
	throw new AdministrationError(`more than ${most} ${noun} begin so; write more of it`, 'form', field);
}

/** Lists who acted, with the site of each, as far as a text is part of the name. */
export async function actorsAlike(
	{ database }: OperationContext,
	siteIds: readonly string[] | null,
	text: string,
): Promise<{ siteIds: string[]; actors: string[] }> {
	const rows = await database.rows<{ site_id: string; actor: string }>(actorsLike, [siteIds, text.trim()]);
	return { siteIds: rows.map(({ site_id: id }) => id), actors: rows.map(({ actor }) => actor) };
}
