import type { Json, JsonObject } from '#core/json.ts';
import { asObjects } from '../elements.ts';
import { type ElementSchema, withRule } from './element.ts';
import { fault } from './fault.ts';
import { typesIn } from './reference.ts';
import type { Rule } from './rule.ts';

/** Codes by their system. */
export type CodesOfSystems = Readonly<Record<string, readonly string[]>>;

const words = 'A code of the value set that is required here is expected';

/** Requires a CodeableConcept with a coding from a value set, or a Coding from it. */
export function from(schema: ElementSchema, codes: CodesOfSystems): ElementSchema {
	const isCoding = schema._zod.def.path === 'Coding';
	const systems = new Map(Object.entries(codes).map(([system, values]) => [system, new Set<Json | undefined>(values)]));
	const isOf = ({ system, code }: JsonObject) => typeof system === 'string' && (systems.get(system)?.has(code) ?? false);
	const rule: Rule = (element, _context, issues) => {
		const codings = isCoding ? [element] : asObjects(element['coding']);
		if (!codings.some(isOf)) issues.push(fault('code-invalid', words));
	};
	return withRule(schema, rule);
}

/** Requires a Reference whose target has one of the types. */
export function to(reference: ElementSchema, ...types: string[]): ElementSchema {
	const allowed = new Set(types);
	const rule: Rule = (element, context, issues) => {
		const given = typesIn(element, context);
		if (given.some((type) => !allowed.has(type))) issues.push(fault('value', 'This element does not refer to resources of this type'));
	};
	return withRule(reference, rule);
}
