import { z } from 'zod';
import { Failure } from '#core/failure.ts';
import { isUuid, newId } from '#core/id.ts';
import type { Json } from '#core/json.ts';
import type { Definition } from '#fhir/profiles/library.ts';
import { readDefinitions } from '#fhir/profiles/read-definitions.ts';
import { runInTransaction } from '#storage/entities/index.ts';
import {
	advanceDefinitions,
	countDefinitions,
	findDefinitions,
	insertDefinitions,
	listDefinitions,
	removeDefinitions,
} from '#storage/statements/administrative/definitions.ts';
import { AdministrationError, change, type OperationContext } from './context.ts';
import type { Found } from './operation.ts';
import { instant, ofSite } from './schemas.ts';
import { siteBySlug } from './sites.ts';
import { visibleSiteIds } from './visible-sites.ts';

const kinds = ['StructureDefinition', 'ValueSet', 'CodeSystem'] as const;

export const addProfilesInput = z.strictObject({
	site: z.string(),
	file: z.base64().describe('a StructureDefinition, ValueSet or CodeSystem in JSON, or a FHIR package (package.tgz)'),
});

export const listProfilesInput = z.strictObject({
	...ofSite,
	kind: z.enum(kinds).optional(),
	limit: z.coerce.number().int().min(1).max(10_000).default(1000),
});

/** An id; or, with the site, a URL (`url|version` too) or a package (`name#version` too). */
export const namedProfiles = z.strictObject({ profile: z.string(), site: z.string().optional() });

export const profileRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	kind: z.enum(kinds),
	url: z.string(),
	version: z.string(),
	name: z.string(),
	type: z.string().describe('the type that a profile constrains'),
	package: z.string().describe('the package that brought it, as name#version; empty when it came alone'),
	bytes: z.int(),
	created_at: instant,
});
type ProfileRecord = z.infer<typeof profileRecord>;

export const addedProfiles = z.strictObject({
	site: z.string(),
	package: z.string(),
	added: z.int(),
	passed_over: z.array(z.strictObject({ file: z.string(), reason: z.string() })).describe('definitions of the package that cannot be used'),
});

export const shownProfile = z.strictObject({
	...profileRecord.shape,
	content: z.unknown().describe('what it demands, in the form in which it is checked'),
});

export const removedProfiles = z.strictObject({ site: z.string(), removed: z.int() });

interface DefinitionRow extends Omit<ProfileRecord, 'created_at'> {
	created_at: Date;
}

interface FoundRow extends DefinitionRow {
	content: string;
	site_id: string;
}

/** Loads a definition, or those of a package, for a site. What it had of the same kind, URL and version is replaced. */
export async function addProfiles(
	context: OperationContext,
	input: z.output<typeof addProfilesInput>,
): Promise<z.output<typeof addedProfiles>> {
	const { definitions, passedOver, ...read } = readFile(input.file, context.limits.packageBytesMax);
	if (definitions.length === 0)
		throw new AdministrationError('the package has no profile, value set or code system that can be used', 'form', 'file');
	const from = read.package === undefined ? '' : `${read.package.name}#${read.package.version}`;
	const rows = rowsOf(definitions);
	const { id: siteId, slug } = await siteBySlug(context.em.fork(), input.site);
	await refuseTooMany(context, siteId, rows);
	const at = new Date(context.nowMs()).toISOString();
	return change(context, async (em) => {
		const column = <Name extends keyof Row>(name: Name) => rows.map((row) => row[name]);
		const ids = rows.map(() => newId(context.nowMs()));
		const values = [ids, column('kind'), column('url'), column('version'), column('name'), column('type'), column('content')];
		await runInTransaction(em, insertDefinitions, [siteId, ...values, from, at]);
		await runInTransaction(em, advanceDefinitions, [siteId]);
		const added = { site: slug, package: from, added: rows.length, passed_over: passedOver };
		const subject = from === '' ? (rows[0]?.url ?? '') : from;
		return [added, { action: 'profile.add', subject, siteId, after: { package: from, added: rows.length } }];
	});
}

function readFile(file: string, packageBytesMax: number): ReturnType<typeof readDefinitions> {
	try {
		return readDefinitions(Buffer.from(file, 'base64'), packageBytesMax);
	} catch (error) {
		if (error instanceof Failure) throw new AdministrationError(error.diagnostics, 'form', 'file');
		throw error;
	}
}

interface Row {
	kind: Definition['kind'];
	url: string;
	version: string;
	name: string;
	type: string;
	content: string;
}

/** URLs and names are bounded, because indexes and lists hold them. */
const textMax = 500;

function rowsOf(definitions: readonly Definition[]): Row[] {
	const rows = new Map<string, Row>();
	for (const definition of definitions) {
		const { kind, url, version = '', name } = definition;
		if ([url, version, name].some((text) => text.length > textMax || text.includes('\0'))) {
			throw new AdministrationError(`url, version and name of a definition have at most ${textMax} characters`, 'form', 'file');
		}
		const type = definition.kind === 'StructureDefinition' ? definition.type : '';
		const content = JSON.stringify(definition);
		rows.set(`${kind} ${url} ${version}`, { kind, url, version, name, type, content });
	}
	return [...rows.values()];
}

async function refuseTooMany({ database, limits }: OperationContext, siteId: string, rows: readonly Row[]): Promise<void> {
	const keys = [rows.map(({ kind }) => kind), rows.map(({ url }) => url), rows.map(({ version }) => version)];
	const [held] = await database.rows<{ count: number; bytes: string }>(countDefinitions, [siteId, ...keys]);
	const count = (held?.count ?? 0) + rows.length;
	const bytes = Number(held?.bytes ?? 0) + rows.reduce((total, { content }) => total + Buffer.byteLength(content), 0);
	if (count > limits.profilesMax) throw new AdministrationError(`a site has at most ${limits.profilesMax} definitions`, 'refused', 'file');
	if (bytes > limits.profileBytesMax) {
		throw new AdministrationError(`the definitions of a site have at most ${limits.profileBytesMax} bytes`, 'refused', 'file');
	}
}

export async function listProfiles(
	context: OperationContext,
	{ kind, limit }: z.output<typeof listProfilesInput>,
): Promise<ProfileRecord[]> {
	const sites = await visibleSiteIds(context);
	return (await context.database.rows<DefinitionRow>(listDefinitions, [sites, kind ?? null, limit])).map(recordOf);
}

function recordOf({ id, site, kind, url, version, name, type, package: from, bytes, created_at: at }: DefinitionRow): ProfileRecord {
	return { id, site, kind, url, version, name, type, package: from, bytes, created_at: at.toISOString() };
}

/** Finds what a caller names. All of it belongs to one site. */
export async function findProfiles(
	{ database }: OperationContext,
	{ profile, site }: z.output<typeof namedProfiles>,
): Promise<Found<FoundRow[]> | null> {
	if (site === undefined && !isUuid(profile))
		throw new AdministrationError('name a profile by its id, or by its URL or package and its site');
	const found = await database.rows<FoundRow>(findDefinitions, [profile, site ?? null]);
	const [first] = found;
	return first === undefined ? null : { site: first.site, found };
}

export async function showProfile(found: readonly FoundRow[]): Promise<z.output<typeof shownProfile>> {
	const [one, another] = found;
	if (one === undefined) throw new AdministrationError('there is no such profile', 'not-found');
	if (another !== undefined) throw new AdministrationError(`${found.length} definitions have this name; name one by its id`);
	return { ...recordOf(one), content: JSON.parse(one.content) as Json };
}

export function removeProfiles(
	context: OperationContext,
	{ profile }: z.output<typeof namedProfiles>,
	found: readonly FoundRow[],
): Promise<z.output<typeof removedProfiles>> {
	return change(context, async (em) => {
		const [first] = found;
		if (first === undefined) throw new AdministrationError(`there is no profile '${profile}'`, 'not-found');
		await runInTransaction(em, removeDefinitions, [first.site_id, found.map(({ id }) => id)]);
		await runInTransaction(em, advanceDefinitions, [first.site_id]);
		const removed = { site: first.site, removed: found.length };
		const before = { package: first.package, url: found.length === 1 ? first.url : '', removed: found.length };
		return [removed, { action: 'profile.remove', subject: profile, siteId: first.site_id, before }];
	});
}
