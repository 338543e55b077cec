import { core, z } from 'zod/mini';
import type { Json, JsonObject } from '#core/json.ts';
import { type ElementSchema, element } from './element.ts';
import { fault, faultsMax, type Issue, isObject } from './fault.ts';
import { type Members, required } from './fields.ts';
import type { Context } from './rule.ts';

/** Makes the schema of a resource type. References may lead from the resource and its contained ones to any of them. */
export function resource(type: string, members: () => Members): ElementSchema {
	const resourceType = required(z.literal(type));
	return element(type, () => ({ resourceType, ...members() }), { rules: [containedIdsAreDistinct], contextOf: scopeOf });
}

function scopeOf(resource: JsonObject, context: Context): Context {
	if (context.isContained) return context;
	return { ...context, contained: containedIn(resource) };
}

const none: ReadonlyMap<string, string> = new Map();

function containedIn({ contained }: JsonObject): ReadonlyMap<string, string> {
	if (!Array.isArray(contained)) return none;
	const types = contained.filter(isObject).map(({ id, resourceType }) => [id, resourceType]);
	return new Map(types.filter((pair): pair is [string, string] => pair.every((word) => typeof word === 'string')));
}

type ReadResource = (value: JsonObject, issues: Issue[], context: Context) => void;

const FhirResource: core.$constructor<core.$ZodType, core.$ZodTypeDef & { read: ReadResource }> = core.$constructor(
	'FhirResource',
	(schema, definition) => {
		core.$ZodType.init(schema, definition);
		schema._zod.parse = (payload, context) => {
			const { value, issues } = payload as core.ParsePayload;
			if (isObject(value)) definition.read(value, issues, context as Context);
			else issues.push(fault('structure', 'An object is expected'));
			return payload;
		};
	},
);

/** A resource of any type, which the member `resourceType` states. */
export const Resource = new FhirResource({
	type: 'custom',
	read: (value, issues, context) => {
		const schema = schemaFor(value, issues, context);
		if (schema && context.entryResources) run(schema, value, issues, { ...context, isContained: false, contained: none });
	},
});

/** A resource of any type inside another resource (R4 §2.3.4). */
export const Contained = new FhirResource({
	type: 'custom',
	read: (value, issues, context) => {
		const schema = schemaFor(value, issues, context);
		if (schema) run(schema, value, issues, { ...context, isContained: true });
		containedRules(value, issues);
	},
});

function schemaFor(value: JsonObject, issues: Issue[], context: Context): core.$ZodType | undefined {
	const type = value['resourceType'];
	if (typeof type !== 'string') {
		issues.push(fault('required', 'A resource names its type', ['resourceType']));
		return undefined;
	}
	const schema = context.resourceOf(type);
	if (schema === undefined) issues.push(fault('structure', 'R4 has no such type of resource', ['resourceType']));
	return schema;
}

function run(schema: core.$ZodType, value: Json, issues: Issue[], context: Context): void {
	const payload: core.ParsePayload = { value, issues: [] };
	schema._zod.run(payload, context);
	for (const issue of payload.issues) issues.push({ ...issue, path: issue.path ?? [] });
}

function containedRules(value: JsonObject, issues: Issue[]): void {
	const { id, meta, contained } = value;
	if (id === undefined) issues.push(fault('required', 'A contained resource has an id', ['id']));
	if (contained !== undefined) issues.push(fault('invariant', 'A contained resource contains no other (dom-2)', ['contained']));
	if (!isObject(meta)) return;
	if (meta['versionId'] !== undefined || meta['lastUpdated'] !== undefined) {
		issues.push(fault('invariant', 'A contained resource has no version of its own (dom-4)', ['meta']));
	}
	if (meta['security'] !== undefined)
		issues.push(fault('invariant', 'A contained resource has no security label (dom-5)', ['meta', 'security']));
}

/** Contained resources need distinct ids, so that a reference by id finds exactly one. */
function containedIdsAreDistinct(resource: JsonObject, context: Context, issues: Issue[]): void {
	const { contained } = resource;
	if (context.isContained || !Array.isArray(contained)) return;
	const seen = new Set<Json>();
	for (const [at, inner] of contained.entries()) {
		if (issues.length > faultsMax) return;
		if (!isObject(inner) || typeof inner['id'] !== 'string') continue;
		if (seen.has(inner['id'])) issues.push(fault('value', 'Another contained resource has the same id', ['contained', at, 'id']));
		seen.add(inner['id']);
	}
}
