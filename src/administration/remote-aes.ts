import { z } from 'zod';
import { isUuid, newId } from '#core/id.ts';
import { type EntityManager, RemoteAe } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError, change, note, type OperationContext } from './context.ts';
import { echoOutcomes } from './echo.ts';
import { instant } from './schemas.ts';
import { aeTitle, siteBySlug } from './sites.ts';
import { refuseGuarded } from './targets.ts';
import { ofVisibleSites } from './visible-sites.ts';

export const addRemoteAeInput = z.strictObject({
	site: z.string(),
	title: aeTitle,
	/** A host name (RFC 1123) or an IP address. */
	host: z.union([z.ipv4(), z.ipv6(), z.hostname()], 'a host is a host name or an IP address'),
	port: z.coerce.number().int().min(1).max(65_535),
	tls: z.boolean().default(false),
});

export const namedRemoteAe = z.strictObject({ ae: z.string(), site: z.string().optional() });

export const remoteAeRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	title: z.string(),
	host: z.string(),
	port: z.int(),
	tls: z.boolean(),
	created_at: instant,
});
type RemoteAeRecord = z.infer<typeof remoteAeRecord>;

export const remoteAeEcho = z.strictObject({
	...remoteAeRecord.omit({ created_at: true }).shape,
	calling_ae: z.string(),
	outcome: z.enum(echoOutcomes).describe('answered: with success; refused: with another status; the others: there was no answer, and why'),
	status: z.int().nullable().describe('of the C-ECHO response'),
	reason: z.string(),
	duration_ms: z.int(),
});

function record(remote: RemoteAe): RemoteAeRecord {
	const { id, site, title, host, port, tls, createdAt } = remote;
	return { id, site: site.slug, title, host, port, tls, created_at: createdAt.toISOString() };
}

export function addRemoteAe(context: AdministrationContext, input: z.infer<typeof addRemoteAeInput>): Promise<RemoteAeRecord> {
	refuseGuarded(context, input.host, 'host');
	return change(context, async (em) => {
		const { title, host, port, tls } = input;
		const site = await siteBySlug(em, input.site);
		if (await em.findOne(RemoteAe, { site, title })) {
			throw new AdministrationError(`the site already has a remote AE '${title}'`, 'conflict', 'title');
		}
		const createdAt = new Date(context.nowMs());
		const remote = em.create(RemoteAe, { site, id: newId(context.nowMs()), title, host, port, tls, createdAt });
		const after = record(remote);
		return [after, { action: 'ae.add', subject: remote.id, siteId: site.id, after }];
	});
}

export async function listRemoteAes(context: AdministrationContext): Promise<RemoteAeRecord[]> {
	const options = { populate: ['site'], orderBy: { site: { slug: 'asc' }, title: 'asc' } } as const;
	return (await context.em.fork().find(RemoteAe, ofVisibleSites(context), options)).map(record);
}

export async function showRemoteAe({ em }: AdministrationContext, named: z.infer<typeof namedRemoteAe>): Promise<RemoteAeRecord> {
	return record(await remoteAe(em.fork(), named));
}

async function remoteAe(em: EntityManager, { ae, site }: z.infer<typeof namedRemoteAe>): Promise<RemoteAe> {
	if (site === undefined && !isUuid(ae)) throw new AdministrationError('name the remote AE by its id, or by its title and its site');
	const within = site === undefined ? {} : { site: await siteBySlug(em, site) };
	const remote = await em.findOne(RemoteAe, { ...within, ...(isUuid(ae) ? { id: ae } : { title: ae.trim() }) }, { populate: ['site'] });
	if (!remote) throw new AdministrationError(`there is no remote AE '${ae}'`, 'not-found');
	return remote;
}

export function removeRemoteAe(context: AdministrationContext, input: z.infer<typeof namedRemoteAe>): Promise<RemoteAeRecord> {
	return change(context, async (em) => {
		const remote = await remoteAe(em, input);
		const removed = record(remote);
		em.remove(remote);
		return [removed, { action: 'ae.remove', subject: removed.id, siteId: remote.site.id, before: removed }];
	});
}

/**
 * Finds a remote AE with the AE title by which its site calls it.
 * @throws AdministrationError when it may not be called
 */
export async function calledRemoteAe(
	context: OperationContext,
	named: z.infer<typeof namedRemoteAe>,
): Promise<{ remote: RemoteAe; callingAe: string }> {
	const remote = await remoteAe(context.em.fork(), named);
	const { slug, active, aeTitle: callingAe } = remote.site;
	if (!active) throw new AdministrationError(`the site '${slug}' is disabled: nobody is called for it`);
	if (!callingAe) throw new AdministrationError(`the site '${slug}' has no AE title to call with; site set --ae-title gives it one`);
	return { remote, callingAe };
}

/** Calls a remote AE as the service does for the site, with its AE title. */
export async function echoRemoteAe(context: OperationContext, input: z.infer<typeof namedRemoteAe>): Promise<z.infer<typeof remoteAeEcho>> {
	const { remote, callingAe } = await calledRemoteAe(context, input);
	const { created_at: _, ...called } = record(remote);
	const startedMs = context.nowMs();
	const { outcome, status, reason } = await context.echo(called, callingAe);
	const result = { ...called, calling_ae: callingAe, outcome, status: status ?? null, reason };
	await note(context, { action: 'ae.echo', subject: remote.id, siteId: remote.site.id, after: { outcome, status: result.status } });
	return { ...result, duration_ms: context.nowMs() - startedMs };
}
