import { defaultOf, settingNamesOf } from '#record/settings/settings.ts';
import { type EntityManager, rowsInTransaction } from '#storage/entities/index.ts';
import { listAllAliases, listAllDefinitions } from '#storage/statements/administrative/configuration.ts';
import { listClients } from '../clients.ts';
import type { OperationContext } from '../context.ts';
import { listIssuers } from '../issuers.ts';
import { listKeys } from '../keys.ts';
import { listNotifications } from '../notifications.ts';
import { listRemoteAes } from '../remote-aes.ts';
import { listSites } from '../sites.ts';
import { listUsers } from '../users.ts';
import { authorityName, pathOf, placeOf, type Scope, type Value } from './document.ts';

/** A thing that is there. */
export interface Held {
	value: Value;
	/** Operations name it by this id. */
	id: string;
	/** False for what an export leaves out: senders have taught it. */
	isCarried: boolean;
	/** An alias by which patients were merged. */
	hasMerged?: boolean;
}

export interface State {
	things: Map<string, Held>;
	/** Sentences about what cannot be carried, because nothing tells it apart. */
	left: string[];
}

/** Values that hold where the file says nothing. They are left out of it. */
const defaults: Readonly<Record<string, Value>> = {
	sites: { ...Object.fromEntries(settingNamesOf('site').map((name) => [name, defaultOf(name)])), active: true },
	clients: { ack_mode: defaultOf('ack_mode'), active: true },
	remote_aes: { tls: false },
	issuers: { active: true },
	notifications: { severities: ['critical', 'warning'], active: true },
	users: { all_sites: false, active: true },
};

/** The group of a thing: `clients` of `["sites","north","clients","Admission"]`. */
export const groupOf = (path: readonly string[]) => path.at(-2) ?? '';

/** Lists whose order says nothing. */
const sets: ReadonlySet<string> = new Set(['protocols', 'allowed_ips', 'grants', 'scopes', 'sites', 'alerts', 'severities', 'clients']);

/** Leaves out what has its default, so that a file and a state can be compared, and a person reads only what was set. */
export function plainly(group: string, value: Value): Value {
	const known = defaults[group] ?? {};
	const isEmpty = (member: unknown) => member === null || member === undefined || member === '' || isEmptyList(member);
	const isDefault = (name: string, member: unknown) => name in known && JSON.stringify(member) === JSON.stringify(known[name]);
	return Object.fromEntries(
		Object.entries(value)
			.map(([name, member]) => [name, sets.has(name) && Array.isArray(member) ? [...new Set(member as string[])].sort() : member] as const)
			.filter(([name, member]) => !isEmpty(member) && !isDefault(name, member)),
	);
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** The value that a member has where the file does not name it. */
export const defaultIn = (group: string, name: string): unknown => defaults[group]?.[name];

/** Reads what a file of this scope is about, in one transaction. */
export async function readState(context: OperationContext, em: EntityManager, scope: Scope): Promise<State> {
	const reading = { ...context, visibleSites: scope === 'network' ? ('all' as const) : scope };
	const found = new Collected();
	for (const { id, slug, created_at: _created, move: _move, ...value } of await listSites(reading))
		found.add(['sites', slug], { id, value });
	const isIn = ({ site }: { site: string }) => found.has(['sites', site]);
	for (const { id, site, name, ...value } of await listClients(reading)) found.add(['sites', site, 'clients', name], { id, value });
	for (const { id, site, title, created_at: _, ...value } of await listRemoteAes(reading))
		found.add(['sites', site, 'remote_aes', title], { id, value });
	for (const key of await listKeys(reading)) {
		const { id, site, label, owner, expires_at, scopes, revoked_at: revoked, replaced_by: next, ...rest } = key;
		const { prefix: _p, created_at: _c, last_used_at: _u, warning: _w, ...settings } = rest;
		const value = { owner, ...(expires_at && { expires_at }), ...(scopes && { scopes }), ...settings };
		if (revoked === null && next === undefined) found.add(['sites', site, 'keys', label], { id, value });
	}
	for (const { id, site, label, created_at: _, ...value } of await listIssuers(reading))
		found.add(['sites', site, 'issuers', label], { id, value });
	for (const { site, system, other, origin, merged } of (await rowsInTransaction<AliasRow>(em, listAllAliases, [])).filter(isIn)) {
		const held = { id: '', value: {}, isCarried: origin === 'person', hasMerged: merged > 0 };
		found.add(['sites', site, 'authorities', authorityName(system, other)], held);
	}
	for (const { site, kind, url, version, package: from } of (await rowsInTransaction<DefinitionRow>(em, listAllDefinitions, [])).filter(
		isIn,
	))
		found.add(['sites', site, 'profiles', version === '' ? url : `${url}|${version}`], { id: '', value: { kind, package: from } });
	await collectPeople(reading, found, scope);
	return found.state();
}

async function collectPeople(context: OperationContext, found: Collected, scope: Scope): Promise<void> {
	if (scope === 'network') {
		for (const { id, email, role, sites, all_sites, active, sign_in } of await listUsers(context)) {
			if (sign_in !== 'provider') found.add(['users', email], { id, value: { role, sites, all_sites, active } });
		}
	}
	for (const { id, by, to, user, site, alerts, severities, sites, active } of await listNotifications(context)) {
		const holder = site !== null ? ['sites', site] : user !== null ? ['users', user] : [];
		const name = user !== null && by === 'email' ? by : `${by} ${to}`;
		const isKnown = holder.length === 0 ? scope === 'network' : found.has(holder);
		const value = { alerts, severities, sites, active };
		if (isKnown) found.add([...holder, 'notifications', name], { id, value });
	}
}

interface AliasRow {
	site: string;
	system: string;
	other: string;
	origin: string;
	merged: number;
}

interface DefinitionRow {
	site: string;
	kind: string;
	url: string;
	version: string;
	package: string;
}

/** Gathers things by their names. Things that a name does not tell apart are left out, and said. */
class Collected {
	readonly #things = new Map<string, Held>();
	readonly #ambiguous = new Map<string, number>();

	add(path: readonly string[], { isCarried = true, ...held }: Omit<Held, 'isCarried'> & { isCarried?: boolean }): void {
		const place = placeOf(...path);
		const isNameless = path.at(-1) === '';
		if (isNameless || this.#things.has(place)) this.#ambiguous.set(place, (this.#ambiguous.get(place) ?? (isNameless ? 0 : 1)) + 1);
		this.#things.set(place, { ...held, isCarried, value: plainly(groupOf(path), held.value) });
	}

	has(path: readonly string[]): boolean {
		return this.#things.has(placeOf(...path));
	}

	state(): State {
		for (const place of this.#ambiguous.keys()) this.#things.delete(place);
		const left = [...this.#ambiguous].map(([place, count]) => {
			const path = pathOf(place);
			const which = path.at(-1) === '' ? 'without a label' : `with the name '${path.at(-1)}'`;
			return `${count} of the ${groupOf(path).replaceAll('_', ' ')} of '${path[1]}' ${which} cannot be told apart, and are left as they are`;
		});
		return { things: this.#things, left };
	}
}
