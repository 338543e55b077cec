import { z } from 'zod';
import { isUuid, newId } from '#core/id.ts';
import { listSavedFilters, removeSavedFilter, saveFilter, showSavedFilter } from '#storage/statements/administrative/saved-filters.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import type { Found } from './operation.ts';
import { instant } from './schemas.ts';

const screen = z
	.string()
	.max(64)
	.regex(/^\/[a-z/-]*$/, 'must be the address of a list in the console, such as /messages')
	.describe('the address of a list in the console, such as /messages');

export const saveFilterInput = z.strictObject({
	screen,
	name: z.string().trim().min(1).max(60).describe('replaces a filter of yours that has this name on the same list'),
	query: z
		.string()
		.max(2000)
		.describe('the filters as the address has them, such as outcome=refused&last=1h; none of them names a patient'),
});
export const listFiltersInput = z.strictObject({ screen: screen.optional().describe('only the filters of this list') });

export const savedFilter = z.strictObject({ id: z.uuid(), screen: z.string(), name: z.string(), query: z.string(), created_at: instant });
type SavedFilter = z.output<typeof savedFilter>;

interface Row extends Omit<SavedFilter, 'created_at'> {
	owner: string;
	created_at: Date;
}

/** More than anybody finds again in a list. It bounds what one account can store, so no operator has to set it. */
const filtersMax = 200;

/** These name a patient, or what is looked for in messages. */
const namePatients: readonly string[] = ['patient', 'of', 'text', 'accession', 'where', 'name', 'identifier'];

function recordOf({ owner: _, created_at, ...row }: Row): SavedFilter {
	return { ...row, created_at: created_at.toISOString() };
}

/** Saves filters of a list for the person who asks. */
export async function saveFilterOf(context: OperationContext, input: z.output<typeof saveFilterInput>): Promise<SavedFilter> {
	const query = new URLSearchParams(input.query);
	const refused = namePatients.find((name) => query.has(name));
	if (refused !== undefined)
		throw new AdministrationError(`query: '${refused}' may name a patient, and a saved filter names none`, 'form', 'query');
	const { actor, nowMs, database } = context;
	const values = [newId(nowMs()), actor.name, input.screen, input.name, query.toString(), new Date(nowMs()), filtersMax];
	const [row] = await database.rows<Row>(saveFilter, values);
	if (row === undefined) throw new AdministrationError(`you have ${filtersMax} saved filters, which is the most: remove one first`);
	await note(context, {
		action: 'filter.save',
		subject: row.id,
		siteId: null,
		after: { screen: row.screen, name: row.name, query: row.query },
	});
	return recordOf(row);
}

/** Lists what the person who asks has saved. */
export async function listFilters(context: OperationContext, input: z.output<typeof listFiltersInput>): Promise<SavedFilter[]> {
	return (await context.database.rows<Row>(listSavedFilters, [context.actor.name, input.screen ?? null])).map(recordOf);
}

/** Finds a filter for the person who saved it, under a site of that person. */
export async function findFilter({ database, actor }: OperationContext, { id }: { id: string }): Promise<Found<SavedFilter> | null> {
	if (!isUuid(id)) return null;
	const [row] = await database.rows<Row>(showSavedFilter, [id]);
	if (row === undefined || row.owner !== actor.name) return null;
	return { site: actor.sites === 'all' ? '' : (actor.sites[0] ?? ''), found: recordOf(row) };
}

export async function removeFilter(context: OperationContext, _input: object, found: SavedFilter): Promise<SavedFilter> {
	await context.database.rows(removeSavedFilter, [found.id, context.actor.name]);
	const { id, screen: list, name, query } = found;
	await note(context, { action: 'filter.remove', subject: id, siteId: null, before: { screen: list, name, query } });
	return found;
}
