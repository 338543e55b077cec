import { createHash } from 'node:crypto';
import { z } from 'zod';
import { roles } from '#core/role.ts';
import { keyScopes } from '#record/key-scopes.ts';
import { addClientInput } from '../clients.ts';
import { AdministrationError } from '../context.ts';
import { faultsOf, faultText } from '../input-faults.ts';
import { addIssuerInput } from '../issuers.ts';
import { setNotificationInput } from '../notifications.ts';
import { addRemoteAeInput } from '../remote-aes.ts';
import { instant } from '../schemas.ts';
import { settingInputs } from '../settings.ts';
import { addSiteInput, setSiteInput } from '../sites.ts';
import { addUserInput } from '../users.ts';

/** Says what a file is, so that another one is refused by its first line. */
const format = 'tributary-configuration';
/** A later release that writes other members has another number, and still reads this one. */
const version = 1;

const active = z.boolean().optional().describe('false: it is disabled');
const notification = setNotificationInput.omit({ id: true });
const notifications = z.record(z.string(), notification).optional().describe('by "email" or "webhook", and where to');
const issuer = addIssuerInput.omit({ site: true, label: true, introspection_secret: true }).extend({ active });

const site = addSiteInput.omit({ slug: true }).extend({
	waiting_max: setSiteInput.shape.waiting_max,
	associations_max: setSiteInput.shape.associations_max,
	active,
	clients: z
		.record(z.string(), addClientInput.omit({ site: true, name: true, confirm_overlap: true }).extend({ active }))
		.optional()
		.describe('integration clients, by name'),
	remote_aes: z
		.record(z.string(), addRemoteAeInput.omit({ site: true, title: true, tls: true }).extend({ tls: z.boolean().optional() }))
		.optional()
		.describe('remote AEs, by AE title'),
	keys: z
		.record(
			z.string(),
			z.strictObject({
				owner: z.string(),
				expires_at: instant.optional(),
				scopes: z.array(z.enum(keyScopes)).optional(),
				...settingInputs('key'),
			}),
		)
		.optional()
		.describe('API keys without their secrets, by label'),
	issuers: z.record(z.string(), issuer).optional().describe('issuers of access tokens without their secrets, by label'),
	authorities: z
		.array(z.tuple([z.string(), z.string()]))
		.optional()
		.describe('pairs of names that a person has said to be one assigning authority'),
	profiles: z
		.record(z.string(), z.strictObject({ kind: z.string(), package: z.string().optional() }))
		.optional()
		.describe('definitions that the site has loaded, by URL|version; they are files of their own'),
	notifications,
});

const user = addUserInput
	.omit({ email: true, admin: true })
	.extend({ role: z.enum(roles), sites: z.array(z.string()).optional(), all_sites: z.boolean().optional(), active, notifications });

export const configurationDocument = z.strictObject({
	format: z.literal(format),
	version: z.literal(version),
	scope: z.literal('network').or(z.array(z.string())).describe('network: everything; else the sites that the file is about'),
	sites: z.record(z.string(), site).optional().describe('by slug'),
	users: z.record(z.string(), user).optional().describe('by e-mail address; without passwords'),
	notifications: notifications.describe('those of the network'),
});
export type ConfigurationDocument = z.output<typeof configurationDocument>;
export type Scope = ConfigurationDocument['scope'];

/** The members of one thing, as the file has them. */
export type Value = Readonly<Record<string, unknown>>;
/** Things by their place in the file: `["sites","north","clients","Admission"]`, as JSON. */
export type Things<T extends Value = Value> = ReadonlyMap<string, T>;

export const placeOf = (...path: string[]) => JSON.stringify(path);
export const pathOf = (place: string) => JSON.parse(place) as string[];

/** Members of sites and users that hold things of their own. */
const within = {
	sites: ['clients', 'remote_aes', 'keys', 'issuers', 'authorities', 'profiles', 'notifications'],
	users: ['notifications'],
} as const;

/** @throws AdministrationError that says where the file is wrong */
export function readDocument(text: string): ConfigurationDocument {
	let given: unknown;
	try {
		given = JSON.parse(text);
	} catch (error) {
		throw new AdministrationError(`file: it is no JSON: ${(error as Error).message}`, 'form', 'file');
	}
	const stated = given as { format?: unknown; version?: unknown } | null;
	if (stated?.format !== format) throw new AdministrationError(`file: its member format is not '${format}'`, 'form', 'file');
	if (stated.version !== version) {
		throw new AdministrationError(`file: this release reads version ${version}, not ${String(stated.version)}`, 'form', 'file');
	}
	const { data, error } = configurationDocument.safeParse(given);
	if (error !== undefined) {
		const faults = faultsOf(error).map((fault) => faultText(fault));
		throw new AdministrationError(`file: ${faults.join('; ')}`, 'form', 'file');
	}
	refuseForeign(data);
	return data;
}

/** A file about some sites says nothing of others, nor of the network. */
function refuseForeign({ scope, sites = {}, users, notifications: ofNetwork }: ConfigurationDocument): void {
	if (scope === 'network') return;
	const foreign = Object.keys(sites).find((slug) => !scope.includes(slug));
	if (foreign !== undefined) throw new AdministrationError(`file: the site '${foreign}' is not in its scope`, 'form', 'file');
	if (users !== undefined || ofNetwork !== undefined) {
		throw new AdministrationError('file: users and notifications of the network need the scope network', 'form', 'file');
	}
}

/** Lists the things of a file. */
export function thingsOf({ sites = {}, users = {}, notifications: ofNetwork = {} }: ConfigurationDocument): Map<string, Value> {
	const things = new Map<string, Value>();
	for (const [top, holders] of [
		['sites', sites],
		['users', users],
	] as const) {
		for (const [name, holder] of Object.entries<Value>(holders)) {
			const groups: readonly string[] = within[top];
			things.set(placeOf(top, name), Object.fromEntries(Object.entries(holder).filter(([member]) => !groups.includes(member))));
			for (const group of groups) {
				for (const [each, value] of itemsOf(holder[group])) things.set(placeOf(top, name, group, each), value);
			}
		}
	}
	for (const [name, value] of Object.entries(ofNetwork)) things.set(placeOf('notifications', name), value);
	return things;
}

function itemsOf(group: unknown): [string, Value][] {
	if (!Array.isArray(group)) return Object.entries((group ?? {}) as Record<string, Value>);
	return (group as [string, string][]).map(([system, other]) => [authorityName(system, other), {}]);
}

export const authorityName = (system: string, other: string) => JSON.stringify([system, other].sort());

/** Writes the file of things: names in the order of their letters, members in the order of the forms of the operations. */
export function documentOf(things: Things, scope: Scope): ConfigurationDocument {
	const document: Record<string, unknown> = { format, version, scope };
	for (const path of [...things.keys()].map(pathOf).sort(byPath)) {
		let holder = document;
		for (const member of path.slice(0, -1)) holder = memberOf(holder, member);
		const name = path.at(-1) ?? '';
		if (path.at(-2) === 'authorities') continue;
		holder[name] = { ...things.get(placeOf(...path)) };
	}
	for (const [slug, section] of Object.entries((document['sites'] ?? {}) as Record<string, Record<string, unknown>>)) {
		const pairs = [...things.keys()].map(pathOf).filter(([, of, group]) => of === slug && group === 'authorities');
		if (pairs.length > 0) section['authorities'] = pairs.map(([, , , name = '[]']) => JSON.parse(name) as string[]).sort(byPath);
	}
	return document as ConfigurationDocument;
}

/** A thing that holds others comes before them. */
const byPath = (left: readonly string[], right: readonly string[]) => (left.join('\0') < right.join('\0') ? -1 : 1);

function memberOf(holder: Record<string, unknown>, member: string): Record<string, unknown> {
	holder[member] ??= {};
	return holder[member] as Record<string, unknown>;
}

/** The text that `config export` writes: a member a line, so that Git shows what changed. */
export function textOf(document: ConfigurationDocument): string {
	return `${JSON.stringify(document, null, '\t')}\n`;
}

/** Names a state. `apply` refuses when it is not the state that a plan was made of. */
export function digestOf(things: Things, scope: Scope): string {
	return createHash('sha256')
		.update(JSON.stringify(documentOf(things, scope)))
		.digest('hex')
		.slice(0, 32);
}
