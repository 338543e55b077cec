import type { Clause } from '#record/search-plan.ts';
import type { Parameters } from './parameters.ts';

/**
 * A part of a text is found by its grams: each three letters that stand together, behind a part of the site's id. So an index leads to rows of one
 * site alone. Two sites may share that part of their ids, and a row may have the grams of a text in another order: the statement compares the site
 * and the text itself.
 */

/** More grams than these lead to hardly fewer rows, and each is looked up. */
const gramsMax = 12;
const gramLength = 3;

/** The entry of a text that is too long for grams (migrations/0095-grams-of-names.ts). Every search looks at such rows. */
const longTextOf = (siteId: string) => siteId.slice(-4);

/** The grams of a text, as `tributary_grams` makes them; none for a text of fewer letters. */
export function gramsOf(siteId: string, text: string): string[] {
	const letters = [...text];
	const grams = new Set<string>();
	for (let at = 0; at + gramLength <= letters.length && grams.size < gramsMax; at++) {
		grams.add(longTextOf(siteId) + letters.slice(at, at + gramLength).join(''));
	}
	return [...grams];
}

/**
 * Builds the condition that leads to the rows that may have one of the texts of a clause. It is undefined where one of them is too short to lead
 * anywhere.
 * @param isKnown false where one plan has to suit all texts: then PostgreSQL does not look at them
 */
export function gramsCondition(
	{ column, values }: Clause & { kind: 'string' },
	alias: string,
	parameters: Parameters,
	isKnown = true,
): string | undefined {
	const alternatives = values.map((value) => gramsOf(parameters.siteId, value));
	if (alternatives.length === 0 || alternatives.some((grams) => grams.length === 0)) return undefined;
	const text = `${alias}.site_id, ${alias}.${column}`;
	const conditions = alternatives.map((grams) =>
		(isKnown ? [grams] : thirds(grams)).map((part) => `${gramsOfRow(text)} @> ${parameters.add(part, 'text[]')}`).join(' and '),
	);
	return `(${[...conditions, isLong(text, parameters)].join(' or ')})`;
}

/**
 * Grams in three parts, none of them empty. PostgreSQL takes one row in 200 for what has unknown grams, and would rather merge the list of all rows of the
 * site than read so many; of three conditions it expects one row in eight million.
 */
function thirds(grams: readonly string[]): string[][] {
	return [0, 1, 2].map((part) => {
		const own = grams.filter((_gram, index) => index % 3 === part);
		return own.length > 0 ? own : grams.slice(0, 1);
	});
}

/** The condition that a text of a site may have another one, which is an expression. */
export function mayHave(siteAndText: string, text: string, parameters: Parameters): string {
	return `(${gramsOfRow(siteAndText)} @> (select tributary_grams($1, ${text})) or ${isLong(siteAndText, parameters)})`;
}

function isLong(siteAndText: string, parameters: Parameters): string {
	return `${gramsOfRow(siteAndText)} = ${parameters.add([longTextOf(parameters.siteId)], 'text[]')}`;
}

const gramsOfRow = (siteAndText: string) => `tributary_grams(${siteAndText}) collate "C"`;
