import type { core } from 'zod/mini';
import type { Json, JsonObject } from '#core/json.ts';
import type { ElementSchema } from './element.ts';
import { isObject } from './fault.ts';
import type { Member, Members } from './fields.ts';
import { primitiveTypes } from './primitives.ts';
import { Contained, Resource } from './resource.ts';
import { Sibling } from './schemas/datatypes.ts';
import { schemas } from './schemas/index.mjs';

type Schema = core.$ZodType;

/**
 * Returns the primitive type (`uri`, `xhtml`) of the element to which the steps lead from a resource, as the definitions of R4 state it;
 * undefined where they know no such element.
 */
export function primitiveTypeAt(type: string, resource: JsonObject, steps: readonly (string | number)[]): string | undefined {
	let schema: Schema | undefined = schemas.get(type);
	let value: Json | undefined = resource;
	for (const step of steps) {
		if (typeof step === 'number') {
			value = Array.isArray(value) ? value[step] : undefined;
			continue;
		}
		if (schema === Contained || schema === Resource) schema = schemaOfResource(value);
		if (schema === undefined || !isElement(schema)) return undefined;
		schema = memberOf(schema, step);
		value = isObject(value) ? value[step] : undefined;
	}
	return schema === undefined ? undefined : primitiveTypes.get(schema)?.type;
}

function schemaOfResource(value: Json | undefined): Schema | undefined {
	const type = isObject(value) ? value['resourceType'] : undefined;
	return typeof type === 'string' ? schemas.get(type) : undefined;
}

function isElement(schema: Schema): schema is ElementSchema {
	return 'members' in schema._zod.def;
}

/** Members of the elements that were asked for, so that each is read once. */
const known = new WeakMap<Schema, Members>();

function memberOf(element: ElementSchema, name: string): Schema | undefined {
	let members = known.get(element);
	if (members === undefined) {
		members = element._zod.def.members();
		known.set(element, members);
	}
	if (name.startsWith('_')) return Sibling;
	if (Object.hasOwn(members, name)) return schemaOf(members[name], '');
	for (const [choice, member] of Object.entries(members)) {
		const stem = choice.endsWith('[x]') ? choice.slice(0, -3) : undefined;
		const schema = stem !== undefined && name.startsWith(stem) ? schemaOf(member, name.slice(stem.length)) : undefined;
		if (schema !== undefined) return schema;
	}
	return undefined;
}

/** Returns the schema of a member; of a choice the one for the end of the element's name. */
function schemaOf(member: Member | undefined, form: string): Schema | undefined {
	if (member === undefined || !('member' in member)) return member;
	if (member.member === 'required') return schemaOf(member.of, form);
	return member.member === 'list' ? member.schema : member.schemas.get(form);
}
