import { endUnmerged } from '../authorities.ts';
import type { OperationContext } from '../context.ts';
import type { Operation } from '../operation.ts';
import { authorityOperations } from '../operations/authorities.ts';
import { clientOperations } from '../operations/clients.ts';
import { issuerOperations } from '../operations/issuers.ts';
import { keyOperations } from '../operations/keys.ts';
import { notificationOperations } from '../operations/notifications.ts';
import { remoteAeOperations } from '../operations/remote-aes.ts';
import { siteOperations } from '../operations/sites.ts';
import { userOperations } from '../operations/users.ts';
import { perform } from '../perform.ts';
import { called, type Difference } from './difference.ts';
import { defaultIn, groupOf } from './state.ts';

const operations = new Map(
	[
		...siteOperations,
		...userOperations,
		...clientOperations,
		...remoteAeOperations,
		...keyOperations,
		...issuerOperations,
		...authorityOperations,
		...notificationOperations,
	].map((operation: Operation) => [operation.name as string, operation]),
);

/** Secrets that an apply has made; each is shown this once. */
export interface MadeSecret {
	of: string;
	secret: string;
}

/** Makes differences what the file says, each by the operation that a person would call, with all that it asks and refuses. */
export class CarryingOut {
	readonly secrets: MadeSecret[] = [];
	readonly #context: OperationContext;
	readonly #confirmOverlap: boolean;
	/** Sites and users are disabled at the end, because what is added to them needs them to be active. */
	readonly #late: (() => Promise<unknown>)[] = [];

	constructor(context: OperationContext, confirmOverlap: boolean) {
		this.#context = context;
		this.#confirmOverlap = confirmOverlap;
	}

	/** Removals come first, because they make room. Then come sites, the users who answer for keys, and what refers to both. */
	async all(differences: readonly Difference[]): Promise<void> {
		const isRemoved = ({ action }: Difference) => action === 'remove';
		const holding = ['sites', 'users'];
		const rank = (difference: Difference) => {
			const index = difference.path.length === 2 ? holding.indexOf(difference.path[0] ?? '') : -1;
			return index >= 0 ? index + 1 : isRemoved(difference) ? 0 : holding.length + 1;
		};
		for (const difference of differences.toSorted((left, right) => rank(left) - rank(right))) await this.#one(difference);
		for (const step of this.#late) await step();
	}

	async #one(difference: Difference): Promise<void> {
		const { path } = difference;
		switch (groupOf(path)) {
			case 'sites':
				return this.#site(difference);
			case 'users':
				return this.#user(difference);
			case 'clients':
				return this.#client(difference);
			case 'remote_aes':
				return this.#remoteAe(difference);
			case 'keys':
				return this.#key(difference);
			case 'issuers':
				return this.#issuer(difference);
			case 'authorities':
				return this.#authority(difference);
			case 'notifications':
				return this.#notification(difference);
			default:
				throw new Error(`nothing carries out ${called(path)}`);
		}
	}

	async #call(name: string, input: object): Promise<Record<string, unknown>> {
		const operation = operations.get(name);
		if (operation === undefined) throw new Error(`there is no operation '${name}'`);
		return (await perform(operation, this.#context, input)) as Record<string, unknown>;
	}

	/** Carries out `site enable` at once, and `site disable` at the end. */
	async #activity(noun: string, named: object, difference: Difference): Promise<void> {
		const isActive = difference.action !== 'remove' && difference.value['active'] !== false;
		const wasActive = difference.held === undefined || difference.held.value['active'] !== false;
		if (isActive && !wasActive) await this.#call(`${noun} enable`, named);
		if (!isActive && wasActive) this.#late.push(() => this.#call(`${noun} disable`, named));
	}

	async #site(difference: Difference): Promise<void> {
		const [, slug] = difference.path;
		const { action, value } = difference;
		const { active: _, waiting_max, associations_max, ...given } = value;
		if (action === 'create') await this.#call('site add', { slug, ...given });
		await this.#activity('site', { slug }, difference);
		const limits = { ...(waiting_max !== undefined && { waiting_max }), ...(associations_max !== undefined && { associations_max }) };
		const input = action === 'create' ? limits : action === 'change' ? changedMembers(difference) : {};
		if (Object.keys(input).length > 0) await this.#call('site set', { slug, ...input });
	}

	async #user(difference: Difference): Promise<void> {
		const [, email] = difference.path;
		const { action, value } = difference;
		const { active: _, ...given } = value;
		if (action === 'create') await this.#call('user add', { email, ...given });
		await this.#activity('user', { email }, difference);
		const changed = changedMembers(difference);
		if (action !== 'change' || Object.keys(changed).length === 0) return;
		await this.#call('user set', { email, role: value['role'], all_sites: value['all_sites'] ?? false, sites: value['sites'] ?? [] });
	}

	async #client(difference: Difference): Promise<void> {
		const [, site, , name] = difference.path;
		const { action, held, value } = difference;
		const confirming = { confirm_overlap: this.#confirmOverlap };
		if (action === 'remove') return void (await this.#call('client remove', { id: held?.id }));
		if (action === 'create') {
			const { active: _, ...given } = value;
			const { id } = await this.#call('client add', { site, name, ...given, ...confirming });
			return this.#toggle('client', id, difference);
		}
		const changed = changedMembers(difference);
		if (Object.keys(changed).length > 0) await this.#call('client set', { id: held?.id, ...changed, ...confirming });
		await this.#toggle('client', held?.id, difference);
	}

	/** Turns a client or an issuer on or off, which is possible at any time. A new one is on. */
	async #toggle(noun: string, id: unknown, { value, fields }: Difference): Promise<void> {
		if (fields.some(({ field }) => field === 'active'))
			await this.#call(`${noun} ${value['active'] === false ? 'disable' : 'enable'}`, { id });
	}

	/** A remote AE cannot be changed; it is replaced. */
	async #remoteAe({ action, path: [, site, , title], held, value }: Difference): Promise<void> {
		if (action !== 'create') await this.#call('ae remove', { ae: held?.id });
		if (action !== 'remove') await this.#call('ae add', { site, title, ...value });
	}

	async #key(difference: Difference): Promise<void> {
		const { action, held } = difference;
		if (action === 'remove') return void (await this.#call('key revoke', { id: held?.id }));
		const { expires_at: expires, ...changed } = changedMembers(difference);
		await this.#call('key set', { id: held?.id, ...changed, ...(expires !== undefined && { expires }) });
	}

	async #issuer(difference: Difference): Promise<void> {
		const [, site, , label] = difference.path;
		const { action, held, value } = difference;
		if (action === 'remove') return void (await this.#call('issuer remove', { id: held?.id }));
		if (action === 'create') {
			const { active: _, ...given } = value;
			const { id } = await this.#call('issuer add', { site, label, ...given });
			return this.#toggle('issuer', id, difference);
		}
		const changed = changedMembers(difference);
		const secret = changed['introspection_url'] === '' ? { introspection_secret: '' } : {};
		if (Object.keys(changed).length > 0) await this.#call('issuer set', { id: held?.id, ...changed, ...secret });
		await this.#toggle('issuer', held?.id, difference);
	}

	async #authority({ action, path: [, site = '', , name = '[]'] }: Difference): Promise<void> {
		const [system = '', other = ''] = JSON.parse(name) as string[];
		if (action === 'remove') await endUnmerged(this.#context, { site, system, other });
		else await this.#call('authority add', { site, system, other });
	}

	async #notification(difference: Difference): Promise<void> {
		const { action, path, held, value } = difference;
		if (action === 'remove') return void (await this.#call('notification remove', { id: held?.id }));
		if (action === 'change') return void (await this.#call('notification set', { id: held?.id, ...changedMembers(difference, true) }));
		const { active, ...given } = value;
		const [top, holder] = path.length === 2 ? [] : path;
		const [by = '', to] = (path.at(-1) ?? '').split(' ');
		const whose = top === 'sites' ? { site: holder } : top === 'users' ? { user: holder } : { network: true };
		const { id, secret } = await this.#call('notification add', { by, ...(to !== undefined && { to }), ...whose, ...given });
		if (typeof secret === 'string') this.secrets.push({ of: called(path), secret });
		if (active === false) await this.#call('notification set', { id, active });
	}
}

/** The input that makes the fields what they are to be. What the file does not name gets its default, or is taken away. */
function changedMembers({ path, fields }: Difference, withActivity = false): Record<string, unknown> {
	const group = groupOf(path);
	return Object.fromEntries(
		fields
			.filter(({ field }) => withActivity || field !== 'active')
			.map(({ field, before, after }) => [field, after ?? defaultIn(group, field) ?? (Array.isArray(before) ? [] : '')]),
	);
}
