import { z } from 'zod';
import { newId } from '#core/id.ts';
import { roles } from '#core/role.ts';
import { type EntityManager, runInTransaction, SignInGroup } from '#storage/entities/index.ts';
import { endAllProviderSessions } from '#storage/statements/administrative/provider-sign-in.ts';
import { type AdministrationContext, AdministrationError, change } from './context.ts';
import { instant } from './schemas.ts';
import { siteBySlug } from './sites.ts';
import { refuseReach } from './users.ts';

export const addGroupInput = z.strictObject({
	name: z.string().min(1).max(255).describe('the group as the claim of the provider names it'),
	role: z.enum(roles),
	sites: z.array(z.string()).max(5000).default([]),
	all_sites: z.boolean().default(false).describe('gives auditors access to all sites, including future ones'),
});
export const namedGroup = z.strictObject({ id: z.uuid() });
export const groupRecord = z.strictObject({
	id: z.uuid(),
	name: z.string(),
	role: z.enum(roles),
	sites: z.array(z.string()),
	all_sites: z.boolean(),
	created_at: instant,
});
type GroupRecord = z.infer<typeof groupRecord>;

function record(group: SignInGroup): GroupRecord {
	const slugs = group.sites.getItems().map(({ slug }) => slug);
	const { id, name, role, allSites, createdAt } = group;
	return { id, name, role, sites: slugs.sort(), all_sites: allSites, created_at: createdAt.toISOString() };
}

function refuseFaults({ role, sites = [], all_sites: all = false }: z.input<typeof addGroupInput>): void {
	refuseReach(role, all);
	if (role === 'administrator' && sites.length > 0) throw new AdministrationError('sites: an administrator has all sites', 'form', 'sites');
	if (role !== 'administrator' && sites.length === 0 && !all)
		throw new AdministrationError(`sites: the role ${role} needs at least one site`, 'form', 'sites');
}

/** Maps a group. Whoever is signed in by the provider signs in again, so that the mapping is in force at once. */
export function addGroup(context: AdministrationContext, input: z.input<typeof addGroupInput>): Promise<GroupRecord> {
	refuseFaults(input);
	return change(context, async (em) => {
		const { name, role, sites = [], all_sites: allSites = false } = input;
		if (await em.findOne(SignInGroup, { name })) throw new AdministrationError(`the group '${name}' is mapped already`, 'conflict', 'name');
		const createdAt = new Date(context.nowMs());
		const group = em.create(SignInGroup, { id: newId(context.nowMs()), name, role, allSites, createdAt });
		for (const slug of sites) group.sites.add(await siteBySlug(em, slug));
		await runInTransaction(em, endAllProviderSessions, []);
		const after = record(group);
		return [after, { action: 'sign-in.group-add', subject: name, siteId: null, after }];
	});
}

export async function listGroups({ em }: AdministrationContext): Promise<GroupRecord[]> {
	return (await em.fork().findAll(SignInGroup, { orderBy: { name: 'asc' }, populate: ['sites'] })).map(record);
}

async function groupById(em: EntityManager, id: string): Promise<SignInGroup> {
	const group = await em.findOne(SignInGroup, { id }, { populate: ['sites'] });
	if (!group) throw new AdministrationError(`there is no mapped group '${id}'`, 'not-found');
	return group;
}

/** Its members lose what they had by it: their sessions end, and their next sign-in counts their other groups. */
export function removeGroup(context: AdministrationContext, { id }: z.infer<typeof namedGroup>): Promise<GroupRecord> {
	return change(context, async (em) => {
		const group = await groupById(em, id);
		const before = record(group);
		em.remove(group);
		await runInTransaction(em, endAllProviderSessions, []);
		return [before, { action: 'sign-in.group-remove', subject: group.name, siteId: null, before }];
	});
}
