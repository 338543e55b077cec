import type { Json, JsonObject } from '#core/json.ts';
import type { ResourceType } from './table-shape.ts';

/** Texts that one reading of a message gives and another does not, by the element that has them. */
export class RetimedTexts {
	/** The key is the name of the element and its text before. Null: the message states that text with an offset too, so nobody can tell. */
	readonly #after = new Map<string, string | null>();

	get isEmpty(): boolean {
		for (const after of this.#after.values()) if (after !== null) return false;
		return true;
	}

	add(name: string, before: string, after: string): void {
		const key = keyOf(name, before);
		const held = this.#after.get(key);
		this.#after.set(key, held === undefined || held === after ? after : null);
	}

	/** Undefined for a text that the message does not state so; null for one of which nobody can tell. */
	after(name: string, before: string): string | null | undefined {
		return this.#after.get(keyOf(name, before));
	}
}

function keyOf(name: string, before: string): string {
	return `${name} ${before}`;
}

/** An entry of a document without an id is recognised by its content, and so by its times. */
export interface RetimedEntry {
	resourceType: ResourceType;
	before: string;
	after: string;
}

/** Two readings of one message, by different zones, state these differently. */
export interface Retimed {
	texts: Map<ResourceType, RetimedTexts>;
	entries: RetimedEntry[];
}

const dateTime = /^\d{4}-\d\d-\d\dT/;

/** True when a message states times of day. */
export function statesTimes(value: unknown): boolean {
	if (typeof value === 'string') return dateTime.test(value);
	if (Array.isArray(value)) return value.some(statesTimes);
	return isPlain(value) && Object.values(value).some(statesTimes);
}

/** Notes the texts that differ between two readings, by the elements that have them. */
export function compareTexts(before: unknown, after: unknown, name: string, texts: RetimedTexts): void {
	if (typeof before === 'string') {
		if (typeof after === 'string' && (before !== after || dateTime.test(before))) texts.add(name, before, after);
		return;
	}
	if (Array.isArray(before)) {
		if (Array.isArray(after)) for (const [index, item] of before.entries()) compareTexts(item, after[index], name, texts);
		return;
	}
	if (!isPlain(before) || !isPlain(after)) return;
	// A patch names elements by paths, such as `period.start`.
	for (const [path, member] of Object.entries(before)) {
		if (path !== 'entries') compareTexts(member, after[path], path.slice(path.lastIndexOf('.') + 1), texts);
	}
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A place of a resource that has a text to be replaced: its path without the positions in lists, and the text. */
export type Places = Map<string, string | null>;

/** Returns the places of a resource that have a text of a message, each with what it becomes. */
export function placesIn(resource: JsonObject, texts: RetimedTexts): Places {
	const places: Places = new Map();
	visit(resource, '', '', (path, name, text) => {
		const after = texts.after(name, text);
		if (after !== undefined && after !== text) places.set(placeOf(path, text), after);
		return text;
	});
	return places;
}

/** Replaces the texts at these places. The resource is changed. Returns true when it had one of them. */
export function retime(resource: JsonObject, places: Places): boolean {
	let isChanged = false;
	visit(resource, '', '', (path, _name, text) => {
		const after = places.get(placeOf(path, text)) ?? text;
		if (after !== text) isChanged = true;
		return after;
	});
	return isChanged;
}

/** Tells whether a resource has a text at one of the places as it becomes. */
export function hasBecome(resource: JsonObject, places: Places): boolean {
	const become = new Set([...places].flatMap(([place, after]) => (after === null ? [] : [placeOf(place.split(' ', 1)[0] ?? '', after)])));
	let found = false;
	visit(resource, '', '', (path, _name, text) => {
		found ||= become.has(placeOf(path, text));
		return text;
	});
	return found;
}

function placeOf(path: string, text: string): string {
	return `${path} ${text}`;
}

type Replace = (path: string, name: string, text: string) => string;

function visit(value: Json, path: string, name: string, replace: Replace): Json {
	if (typeof value === 'string') return replace(path, name, value);
	if (Array.isArray(value))
		for (let index = 0; index < value.length; index++) value[index] = visit(value[index] as Json, path, name, replace);
	else if (isPlain(value)) {
		const members = value as JsonObject;
		for (const member in members) members[member] = visit(members[member] as Json, `${path}.${member}`, member, replace);
	}
	return value;
}
