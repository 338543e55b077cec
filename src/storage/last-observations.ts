import type { Json } from '#core/json.ts';
import type { SearchPlan } from '#record/search-plan.ts';
import type { StoredResource } from '#record/stored-resource.ts';
import type { Cell } from './cell.ts';
import type { Reader } from './reader.ts';
import { rowOf } from './search.ts';
import { lastObservationsQuery, observationsInOrderQuery } from './statements/last-observations.ts';

/** What an observation is grouped by. */
export interface DatedObservation {
	rowId: string;
	/** The row of its patient, or the text of the reference to another subject. */
	subject: string;
	/** Its codes, each with its system, or its text if it has no code. */
	codes: readonly string[];
	/** The moment at which it begins. Equal texts are equal moments. */
	time: string;
}

/** Returns the newest observations of each set of codes, the newest first. `cut` tells that there are more than `rowsMax`. */
export async function datedObservations(
	reader: Reader,
	siteId: string,
	plan: Pick<SearchPlan, 'clauses'>,
	{ max, rowsMax }: { max: number; rowsMax: number },
): Promise<{ found: DatedObservation[]; cut: boolean }> {
	const { statement, values } = lastObservationsQuery(siteId, plan, max, rowsMax);
	const rows = await reader.run(statement, values);
	return { found: rows.slice(0, rowsMax).map(datedOf), cut: rows.length > rowsMax };
}

function datedOf([rowId, subject, system, value, further, text, time]: readonly Cell[]): DatedObservation {
	return { rowId: rowId ?? '', subject: subject ?? '', codes: codesOf({ system, value, further, text }), time: time ?? '' };
}

/** Each further coding has three texts, of which the first has system and code (`codingColumns` of the definitions). */
function codesOf({ system, value, further, text }: Record<'system' | 'value' | 'further' | 'text', Cell | undefined>): string[] {
	if (value === null || value === undefined) return [`text ${text ?? ''}`];
	const tokens = further === null || further === undefined ? [] : (JSON.parse(further) as Json[]);
	const others = tokens.filter((token, index) => typeof token === 'string' && index % 3 === 0);
	return [`code ${system ?? ''}|${value}`, ...others.map((token) => `code ${token}`)];
}

/** Returns the observations in the order of the row ids, with their row ids; fewer when their texts together would exceed `bytesMax`. */
export async function observationsInOrder(
	reader: Reader,
	siteId: string,
	rowIds: readonly string[],
	bytesMax: number,
): Promise<{ rows: StoredResource[]; rowIds: string[] }> {
	if (rowIds.length === 0) return { rows: [], rowIds: [] };
	const { statement, values } = observationsInOrderQuery(siteId, rowIds, bytesMax);
	const rows = await reader.run(statement, values);
	return { rows: rows.map(rowOf), rowIds: rows.map((cells) => cells[6] ?? '') };
}
