import { actorsLike, beginningsOf, controlsLike, typesLike } from '#storage/statements/administrative/alike.ts';
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
	if (found.length <= controlsMax) return found;
	const same = found.filter((id) => id.toLowerCase() === given.toLowerCase());
	if (same.length > 0) return same;
	throw new AdministrationError(`more than ${controlsMax} control ids begin so; write more of it`, 'form', 'control_id');
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
