import type { core } from 'zod/mini';
import type { Json, JsonObject } from '#core/json.ts';
import { adopt, fault, faultsMax, type Issue, isObject } from './fault.ts';
import { primitiveTypes, xhtml } from './primitives.ts';
import type { Context } from './rule.ts';

type Schema = core.$ZodType;

/** A member of an element. By default it may be absent and has one value. */
export type Member = Schema | ListMember | ChoiceMember | RequiredMember;
/** Members by their name in the StructureDefinition: `birthDate`, `value[x]`. */
export type Members = Readonly<Record<string, Member>>;

interface ListMember {
	member: 'list';
	schema: Schema;
}
interface ChoiceMember {
	member: 'choice';
	/** Schemas by the end of the element's name: `DateTime`. */
	schemas: ReadonlyMap<string, Schema>;
}
interface RequiredMember {
	member: 'required';
	of: Schema | ListMember | ChoiceMember;
}

/** Allows any number of values; if the member is present, at least one. */
export function list(schema: Schema): ListMember {
	return { member: 'list', schema };
}

/** Allows one value of one of several types. The type ends the element's name: `onset[x]` is `onsetAge`, `onsetString` … */
export function choice(schemas: Readonly<Record<string, Schema>>): ChoiceMember {
	return { member: 'choice', schemas: new Map(Object.entries(schemas)) };
}

export function required(of: RequiredMember['of']): RequiredMember {
	return { member: 'required', of };
}

export function fieldsOf(members: Members): Field[] {
	return Object.entries(members).map(([name, member]) => {
		const isRequired = isMember(member, 'required');
		const plain = isRequired ? member.of : member;
		if (isMember(plain, 'list')) return new ListField(name, plain.schema, isRequired);
		if (isMember(plain, 'choice')) return new ChoiceField(name.replace('[x]', ''), plain.schemas, isRequired);
		return new SingleField(name, plain, isRequired);
	});
}

type Marked = ListMember | ChoiceMember | RequiredMember;

function isMember<K extends Marked['member']>(member: Member, kind: K): member is Extract<Marked, { member: K }> {
	return 'member' in member && member.member === kind;
}

/** Reads the members of an element that belong to one name in its StructureDefinition. */
export interface Field {
	/** The names in JSON: `birthDate` and `_birthDate`. */
	readonly names: readonly string[];
	/** The name in FHIRPath. */
	readonly path: string;
	readonly required: boolean;
	readonly isChoice: boolean;
	/** Tells whether the element has a value or its sibling. */
	isIn(element: JsonObject): boolean;
	/** Returns the number of forms present; more than one is a fault of a choice. */
	formsIn(element: JsonObject): number;
	read(name: string, value: Json, element: JsonObject, issues: Issue[], context: Context): void;
}

/** XHTML has no extensions beside it (R4 §2.4.2). */
const hasSibling = (schema: Schema): boolean => primitiveTypes.has(schema) && schema !== xhtml;
const siblingOf = (name: string): string => `_${name}`;

/** Runs a schema over the value at `path` of an element. */
function readInto(issues: Issue[], schema: Schema, value: Json, context: Context, ...path: (string | number)[]): void {
	const payload: core.ParsePayload = { value, issues: [] };
	schema._zod.run(payload, context);
	if (payload.issues.length > 0) adopt(issues, payload.issues, ...path);
}

/** Reports too many values. The values themselves are not read then. */
function tooManyValues(repetitionsMax: number, path: string): Issue {
	return fault('too-long', `A list has at most ${repetitionsMax} values`, [path]);
}

/** Tells whether a sibling may stand without a value. It then needs an extension (ele-1); the id of an element is not enough. */
function standsAlone(sibling: Json): boolean {
	return isObject(sibling) && sibling['extension'] !== undefined;
}

const noValue = 'An element has a value or an extension (ele-1)';
const strayNull = 'null stands only in a list of primitives, where the list of the same name with _ has an object at its place';

class SingleField implements Field {
	readonly names: readonly string[];
	readonly path: string;
	readonly required: boolean;
	readonly isChoice: boolean = false;
	readonly #name: string;
	readonly #sibling: string | undefined;
	readonly #schema: Schema;

	constructor(name: string, schema: Schema, isRequired: boolean, path = name) {
		this.#name = name;
		this.#sibling = hasSibling(schema) && name !== 'id' ? siblingOf(name) : undefined;
		this.names = this.#sibling === undefined ? [name] : [name, this.#sibling];
		this.path = path;
		this.required = isRequired;
		this.#schema = schema;
	}

	isIn(element: JsonObject): boolean {
		return element[this.#name] !== undefined || (this.#sibling !== undefined && element[this.#sibling] !== undefined);
	}

	formsIn(element: JsonObject): number {
		return this.isIn(element) ? 1 : 0;
	}

	read(name: string, value: Json, element: JsonObject, issues: Issue[], context: Context): void {
		if (value === null) {
			issues.push(fault('structure', strayNull, [this.path]));
		} else if (Array.isArray(value)) {
			issues.push(fault('structure', 'A single value is expected, not a list', [this.path]));
		} else if (name === this.#name) {
			readInto(issues, this.#schema, value, context, this.path);
		} else {
			readInto(issues, context.siblingOf(), value, context, this.path);
			if (element[this.#name] === undefined && !standsAlone(value)) issues.push(fault('invariant', noValue, [this.path]));
		}
	}
}

class ListField implements Field {
	readonly names: readonly string[];
	readonly path: string;
	readonly required: boolean;
	readonly isChoice = false;
	readonly #sibling: string | undefined;
	readonly #schema: Schema;

	constructor(name: string, schema: Schema, isRequired: boolean) {
		this.path = name;
		this.#sibling = hasSibling(schema) ? siblingOf(name) : undefined;
		this.names = this.#sibling === undefined ? [name] : [name, this.#sibling];
		this.required = isRequired;
		this.#schema = schema;
	}

	isIn(element: JsonObject): boolean {
		return element[this.path] !== undefined || (this.#sibling !== undefined && element[this.#sibling] !== undefined);
	}

	formsIn(element: JsonObject): number {
		return this.isIn(element) ? 1 : 0;
	}

	read(name: string, value: Json, element: JsonObject, issues: Issue[], context: Context): void {
		if (!Array.isArray(value)) issues.push(fault('structure', 'A list is expected', [this.path]));
		else if (value.length === 0) issues.push(fault('structure', 'A list is never empty', [this.path]));
		else if (value.length > context.repetitionsMax) issues.push(tooManyValues(context.repetitionsMax, this.path));
		else if (name === this.path) this.#readItems(value, element, issues, context);
		else this.#readSiblings(value, element, issues, context);
	}

	#readItems(items: Json[], element: JsonObject, issues: Issue[], context: Context): void {
		const siblings = this.#sibling === undefined ? undefined : element[this.#sibling];
		for (let at = 0; at < items.length && issues.length <= faultsMax; at++) {
			const item = items[at] as Json;
			if (item !== null) readInto(issues, this.#schema, item, context, this.path, at);
			else if (!Array.isArray(siblings) || !isObject(siblings[at])) issues.push(fault('structure', strayNull, [this.path, at]));
		}
	}

	/** Reads each sibling at the position of its value or null. Missing items at the end of either list count as null. */
	#readSiblings(siblings: Json[], element: JsonObject, issues: Issue[], context: Context): void {
		const items = element[this.path];
		for (let at = 0; at < siblings.length && issues.length <= faultsMax; at++) {
			const sibling = siblings[at] as Json;
			const item = Array.isArray(items) ? items[at] : undefined;
			if (sibling !== null) {
				readInto(issues, context.siblingOf(), sibling, context, this.path, at);
				if ((item ?? null) === null && !standsAlone(sibling)) issues.push(fault('invariant', noValue, [this.path, at]));
			} else if (item === undefined) {
				issues.push(fault('structure', strayNull, [this.path, at]));
			}
		}
	}
}

class ChoiceField implements Field {
	readonly names: readonly string[];
	readonly path: string;
	readonly required: boolean;
	readonly isChoice = true;
	readonly #forms: ReadonlyMap<string, SingleField>;

	constructor(path: string, schemas: ReadonlyMap<string, Schema>, isRequired: boolean) {
		const forms = [...schemas].map(([type, schema]) => new SingleField(path + type, schema, false, path));
		this.#forms = new Map(forms.flatMap((form) => form.names.map((name) => [name, form])));
		this.path = path;
		this.names = [...this.#forms.keys()];
		this.required = isRequired;
	}

	isIn(element: JsonObject): boolean {
		return this.names.some((name) => element[name] !== undefined);
	}

	read(name: string, value: Json, element: JsonObject, issues: Issue[], context: Context): void {
		this.#forms.get(name)?.read(name, value, element, issues, context);
	}

	formsIn(element: JsonObject): number {
		const forms = new Set(this.#forms.values());
		return [...forms].filter((form) => form.isIn(element)).length;
	}
}
