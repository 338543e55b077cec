import { removeRows } from '#storage/moving/compare.ts';
import { siteTables } from '#storage/moving/moved-tables.ts';
import { inTransaction, type MoveEvent, noteRemoved, readSite, reopen } from '#storage/moving/site-state.ts';
import { quarantineKey } from '#storage/objects/object-key.ts';
import { AdministrationError } from '../context.ts';
import { namedObjects } from '../move-objects.ts';
import { movingSite, withConnections } from './connections.ts';
import type { MoveSiteOptions } from './move-site.ts';

export interface AbandonedMove {
	site: string;
	from: string;
	to: string;
	/** Objects that were removed from the store of the target. */
	objects_removed: number;
	next: string;
}

/**
 * Removes what was copied to a database that has never served the site. The site goes on where it was. What the audit trail there says of it stays.
 * @throws AdministrationError if the other database serves the site
 */
export function abandonMove(options: MoveSiteOptions): Promise<AbandonedMove> {
	const { databases, slug, peers, actor } = options;
	return withConnections(databases, slug, async ({ acting, target }) => {
		const site = await movingSite(acting, slug);
		if (site.state !== undefined && site.peer !== peers.target)
			throw new AdministrationError(`the site '${slug}' moves to ${site.peer}: name that database`, 'conflict');
		const copy = await readSite(target, 'id', site.id);
		if (copy !== undefined && copy.state !== 'arriving')
			throw new AdministrationError(`the target serves the site '${slug}': nothing of it is removed`, 'conflict');
		if (copy === undefined && site.state === undefined)
			throw new AdministrationError(`the site '${slug}' does not move to ${peers.target}`, 'conflict');
		const event = (action: string, detail: MoveEvent['detail']): MoveEvent => ({ site, actor, action, detail });
		const removed = copy === undefined ? 0 : await removeObjects(options, site.id);
		if (copy !== undefined) {
			const tables = (await siteTables(target)).filter(({ name }) => name !== 'audit_event');
			await inTransaction(target, async () => {
				await removeRows(target, tables, site.id);
				await noteRemoved(target, event('site.arrive.abandon', { from: peers.source }));
			});
		}
		await reopen(acting, event('site.leave.abandon', { to: peers.target }), 'abandoned');
		const next = 'the site goes on where it was';
		return { site: slug, from: peers.source, to: peers.target, objects_removed: removed, next };
	});
}

/** Removes the objects that rows of the copy name. Without the store of the target nothing is removed. */
async function removeObjects({ databases, stores }: MoveSiteOptions, siteId: string): Promise<number> {
	const { to } = stores;
	if (to === undefined) return 0;
	let removed = 0;
	for await (const { rows } of namedObjects(databases.target.people, siteId)) {
		for (const { object_key: key } of rows) {
			const isRemoved = (await to.remove(key)) || (await to.remove(quarantineKey(key)));
			if (isRemoved) removed += 1;
		}
	}
	return removed;
}
