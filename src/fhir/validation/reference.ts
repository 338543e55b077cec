import type { JsonObject } from '#core/json.ts';
import { fault, type Issue } from './fault.ts';
import type { Context } from './rule.ts';
import { resourceTypes } from './schemas/resource-types.ts';

/** The target of Reference.reference (R4 §2.3.0.1); the type is undefined when the text does not state it. */
export interface Target {
	form: 'contained' | 'relative' | 'absolute' | 'conditional' | 'other';
	type: string | undefined;
	/** The id without `#`. Undefined when another system, or a search, decides. */
	id: string | undefined;
}

const relative = /^([A-Za-z]+)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;
/** Matches a relative URL that leads to no resource by type and id. R4 does not exclude it. */
const segment = /^[^\s/?#:]+$/;
const onServer = /^https?:\/\/.*\/([A-Za-z]+)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;
const conditional = /^([A-Za-z]+)\?\S+$/;
const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/;
const uuid = /^urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns undefined for a text with none of the forms, or with no resource type of R4. */
export function targetOf(reference: string): Target | undefined {
	if (reference.startsWith('#')) return { form: 'contained', type: undefined, id: reference.slice(1) };
	const [, type, id] = relative.exec(reference) ?? [];
	if (type !== undefined) return resourceTypes.has(type) ? { form: 'relative', type, id } : undefined;
	if (segment.test(reference)) return { form: 'other', type: undefined, id: undefined };
	const [, sought] = conditional.exec(reference) ?? [];
	if (sought !== undefined) return resourceTypes.has(sought) ? { form: 'conditional', type: sought, id: undefined } : undefined;
	if (!absolute.test(reference) || (/^urn:uuid:/i.test(reference) && !uuid.test(reference))) return undefined;
	const [, remote] = onServer.exec(reference) ?? [];
	return { form: 'absolute', type: remote !== undefined && resourceTypes.has(remote) ? remote : undefined, id: undefined };
}

/** Returns the resource types that a Reference names, by its text and by `type`. */
export function typesIn({ reference, type }: JsonObject, context: Pick<Context, 'contained'>): string[] {
	const target = typeof reference === 'string' ? targetOf(reference) : undefined;
	const literal = target?.form === 'contained' ? context.contained.get(target.id ?? '') : target?.type;
	return [literal, type].filter((name) => typeof name === 'string').filter((name) => resourceTypes.has(name));
}

/** Checks the rules of every Reference: its form, ref-1, and that its two statements of a type agree. */
export function referenceRule(element: JsonObject, context: Context, issues: Issue[]): void {
	const { reference } = element;
	if (typeof reference !== 'string' || reference === '') return;
	const target = targetOf(reference);
	if (target === undefined || (target.form === 'conditional' && !context.conditionalReferences)) {
		issues.push(
			fault('value', 'A reference is Type/id, a URL, urn:uuid:, urn:oid:, or # and the id of a contained resource', ['reference']),
		);
	} else if (target.form === 'contained') {
		const isContainer = context.isContained && target.id === '';
		if (!isContainer && !context.contained.has(target.id ?? '')) {
			issues.push(fault('invariant', 'The resource contains none with this id (ref-1)', ['reference']));
		}
	}
	const [first, second] = typesIn(element, context);
	if (second !== undefined && first !== second) {
		issues.push(fault('value', 'The type is another than that of the reference', ['type']));
	}
}
