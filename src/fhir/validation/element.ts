import { core } from 'zod/mini';
import type { Json, JsonObject } from '#core/json.ts';
import { fault, faultsMax, type Issue, isObject } from './fault.ts';
import { type Field, fieldsOf, type Members } from './fields.ts';
import { invariantsOf } from './invariants/index.ts';
import type { Context, Rule } from './rule.ts';

/** The largest number of nested elements. `parseResourceJson` accepts less depth. */
const depthMax = 200;

/**
 * A zod schema of a FHIR element: a datatype, a part of a resource, or a resource. zod's own object parser visits every declared member
 * (some
 * hundred in an Observation) and builds a copy. This one visits only the members that are present and builds nothing.
 */
export interface ElementSchema extends core.$ZodType<JsonObject, JsonObject> {
	_zod: core.$ZodTypeInternals<JsonObject, JsonObject> & { def: ElementDefinition };
}

interface ElementDefinition extends core.$ZodTypeDef {
	type: 'custom';
	/** The path in the StructureDefinition: `HumanName`, `Patient.contact`. */
	path: string;
	members: () => Members;
	/** Rules beyond those of the path. */
	rules: readonly Rule[];
	/** True for the sibling of a primitive, such as `_birthDate`. The value is elsewhere, so an id alone makes sense. */
	besidePrimitive?: boolean;
	/** Returns the context of its members, if it differs from the element's own. */
	contextOf?: (element: JsonObject, context: Context) => Context;
}

interface Plan {
	fields: ReadonlyMap<string, Field>;
	required: readonly Field[];
	choices: readonly Field[];
	rules: readonly Rule[];
	idSuffices: boolean;
}

const FhirElement: core.$constructor<ElementSchema, ElementDefinition> = core.$constructor('FhirElement', (schema, definition) => {
	core.$ZodType.init(schema, definition);
	// It is made when the first such element is read, so that an unused type costs nothing.
	let plan: Plan | undefined;
	const { contextOf } = definition;
	schema._zod.parse = (payload, given) => {
		const { value, issues } = payload as core.ParsePayload;
		const context = given as Context;
		plan ??= planOf(definition);
		if (isObject(value)) walk(plan, value, issues, contextOf === undefined ? context : contextOf(value, context));
		else issues.push(fault('structure', 'An object is expected'));
		return payload;
	};
});

/** `members` is called when it is first needed, so types may refer to one another. */
export function element(path: string, members: () => Members, more: Partial<ElementDefinition> = {}): ElementSchema {
	return new FhirElement({ type: 'custom', path, members, rules: [], ...more });
}

/** Returns the element with one more rule. */
export function withRule(schema: ElementSchema, rule: Rule): ElementSchema {
	const { def } = schema._zod;
	return new FhirElement({ ...def, rules: [...def.rules, rule] });
}

function planOf({ path, members, rules, besidePrimitive = false }: ElementDefinition): Plan {
	const fields = fieldsOf(members());
	return {
		fields: new Map(fields.flatMap((field) => field.names.map((name) => [name, field]))),
		required: fields.filter(({ required }) => required),
		choices: fields.filter(({ isChoice }) => isChoice),
		rules: [...invariantsOf(path), ...rules],
		idSuffices: besidePrimitive,
	};
}

function walk(plan: Plan, element: JsonObject, issues: Issue[], context: Context): void {
	if (context.depth === depthMax) {
		issues.push(fault('structure', `Elements may be nested ${depthMax} deep`));
		return;
	}
	context.depth++;
	readMembers(plan, element, issues, context);
	for (const field of plan.required) {
		if (!field.isIn(element)) issues.push(fault('required', 'This element is required', [field.path]));
	}
	for (const rule of plan.rules) rule(element, context, issues);
	context.depth--;
}

function readMembers(plan: Plan, element: JsonObject, issues: Issue[], context: Context): void {
	let isEmpty = true;
	let chosen = 0;
	for (const name in element) {
		const field = plan.fields.get(name);
		if (field === undefined) {
			issues.push(fault('structure', 'There is no such element here', [name]));
		} else {
			field.read(name, element[name] as Json, element, issues, context);
			if (field.isChoice) chosen++;
		}
		if (name !== 'id' || plan.idSuffices) isEmpty = false;
		if (issues.length > faultsMax) return;
	}
	if (isEmpty) issues.push(fault('invariant', 'An element has a value or other elements (ele-1)'));
	// Few elements have two choices, and even fewer have two forms of one.
	if (chosen < 2) return;
	for (const field of plan.choices) {
		if (field.formsIn(element) > 1) issues.push(fault('structure', 'Only one of the types of this element may be given', [field.path]));
	}
}
