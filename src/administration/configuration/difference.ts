import { pathOf, type Value } from './document.ts';
import { groupOf, type Held, plainly, type State } from './state.ts';

export interface Field {
	field: string;
	/** Undefined where it has its default. */
	before: unknown;
	after: unknown;
}

/** One thing that is to be made as the file says. */
export interface Difference {
	action: 'create' | 'change' | 'remove';
	path: readonly string[];
	/** The thing as it is now; undefined if it is to be created. */
	held: Held | undefined;
	/** The value that it is to have; of a thing that is to be removed, the one that it has. */
	value: Value;
	fields: Field[];
}

export interface Comparison {
	differences: Difference[];
	/** Things that the file does not have, and that stay because nothing says to remove them. */
	kept: string[];
	/** Sentences that tell a person what to do, because no file can hold it. */
	toDo: string[];
}

/** A thing in words: `clients 'Admission' of 'north'` is how lists name it. */
export function called(path: readonly string[]): string {
	const nouns: Readonly<Record<string, string>> = {
		...{ sites: 'site', users: 'user', clients: 'client', remote_aes: 'remote AE', keys: 'key', issuers: 'issuer' },
		...{ authorities: 'authority', profiles: 'profile', notifications: 'notification' },
	};
	const noun = nouns[groupOf(path)] ?? groupOf(path);
	const name = groupOf(path) === 'authorities' ? (JSON.parse(path.at(-1) ?? '[]') as string[]).join(' = ') : path.at(-1);
	return `${noun} '${name}'${path.length > 2 ? ` of '${path[1]}'` : ''}`;
}

/**
 * Compares what is there with what a file says.
 * @param isPruned tells of what the file does not have whether it is to go
 */
export function compare({ things, left }: State, wanted: ReadonlyMap<string, Value>, isPruned: (place: string) => boolean): Comparison {
	const result: Comparison = { differences: [], kept: [], toDo: [...left] };
	for (const [place, given] of wanted) {
		const path = pathOf(place);
		const held = things.get(place);
		const value = settled(path, plainly(groupOf(path), given), held, result.toDo);
		if (value === undefined) continue;
		const fields = fieldsOf(held?.value ?? {}, value);
		if (held === undefined) result.differences.push({ action: 'create', path, held, value, fields });
		else if (fields.length > 0) result.differences.push({ action: 'change', path, held, value, fields });
	}
	for (const [place, held] of things) {
		if (wanted.has(place) || !held.isCarried) continue;
		const path = pathOf(place);
		// A site or user that goes is only disabled, and keeps what belongs to it.
		if (path.length > 2 && !wanted.has(JSON.stringify(path.slice(0, 2)))) continue;
		if (path.length === 2 && path[0] !== 'notifications' && held.value['active'] === false) continue;
		const reason = reasonToKeep(path, held);
		if (!isPruned(place)) result.kept.push(called(path));
		else if (reason !== undefined) result.toDo.push(`${called(path)} is not in the file: ${reason}`);
		else result.differences.push({ action: 'remove', path, held, value: held.value, fields: [] });
	}
	return result;
}

function fieldsOf(before: Value, after: Value): Field[] {
	return [...new Set([...Object.keys(before), ...Object.keys(after)])]
		.map((field) => ({ field, before: before[field], after: after[field] }))
		.filter((field) => JSON.stringify(field.before) !== JSON.stringify(field.after));
}

const introspection = ['introspection_url', 'introspection_client'] as const;

/** Takes out of a value what no file can bring about, and says who has to do it. Undefined: nothing of it can be done. */
function settled(path: readonly string[], value: Value, held: Held | undefined, toDo: string[]): Value | undefined {
	const group = groupOf(path);
	const [, site, , name] = path;
	if (group === 'keys' && held === undefined) {
		const expires = value['expires_at'] === undefined ? '' : ` --expires ${String(value['expires_at'])}`;
		toDo.push(
			`${called(path)} has to be created, because a file has no secrets: key create --site ${site} --owner ${String(value['owner'])} --label '${name}'${expires}; the next apply sets the rest`,
		);
		return undefined;
	}
	if (group === 'keys' && value['owner'] !== held?.value['owner']) {
		toDo.push(
			`${called(path)} has another owner, which a key keeps for good: create one of '${String(value['owner'])}' and revoke this one`,
		);
		return { ...value, owner: held?.value['owner'] };
	}
	if (group === 'profiles') {
		const missing =
			held === undefined ? 'has to be loaded' : value['package'] === held.value['package'] ? undefined : 'comes from another package';
		if (missing !== undefined) toDo.push(`${called(path)} ${missing}: profile add --site ${site} <file>${from(value)}`);
		return undefined;
	}
	if (
		group === 'issuers' &&
		introspection.some((member) => value[member] !== undefined) &&
		held?.value['introspection_url'] === undefined
	) {
		toDo.push(
			`${called(path)} needs the secret of its introspection: issuer set <issuer-id> --introspection-url, --introspection-client, --introspection-secret`,
		);
		return Object.fromEntries(Object.entries(value).filter(([member]) => !introspection.some((each) => each === member)));
	}
	if (group === 'users' && held === undefined) toDo.push(`${called(path)} needs a password: user reset-password ${path[1]}`);
	// Senders may have taught it already.
	return value;
}

const from = ({ package: name }: Value) => (typeof name === 'string' ? ` (it came from ${name})` : '');

function reasonToKeep(path: readonly string[], { hasMerged }: Held): string | undefined {
	if (groupOf(path) === 'profiles') return 'profile remove takes it away, and only its file brings it back';
	if (hasMerged === true) return 'patients were merged by it, and authority undo tells them apart again';
	return undefined;
}
