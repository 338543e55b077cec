import { Failure } from '#core/failure.ts';
import type { Json, JsonObject } from '#core/json.ts';
import type { PatientReference } from '#record/kinds/resource.ts';
import { referencedRow } from '../links.ts';
import { pathOf } from '../validation/expression.ts';
import { primitiveTypeAt } from '../validation/type-at.ts';
import { mayHaveLinks, relinked } from './narrative-links.ts';
import { isReference, replaceText, type Step, visitTexts } from './texts.ts';

/** Returns the references of a resource to patients. Each must be a patient of the site. */
export function patientReferences(type: string, resource: JsonObject): PatientReference[] {
	const found: PatientReference[] = [];
	visitTexts(resource, (text, holder, key, steps) => {
		if (!isReference(holder, key)) return;
		const rowId = referencedRow(holder, 'Patient');
		if (rowId !== null) found.push({ rowId, text, expression: expressionOf(type, steps) });
	});
	return found;
}

function expressionOf(type: string, steps: readonly Step[]): string {
	return `${pathOf(type, steps)}.reference`;
}

function isConditional(text: string): boolean {
	return /^[A-Z][A-Za-z]+\?/.test(text);
}

/** Returns the distinct references by search, as they are written. */
export function conditionalReferences(resource: JsonObject): string[] {
	const texts = new Set<string>();
	visitTexts(resource, (text, holder, key) => {
		if (isReference(holder, key) && isConditional(text)) texts.add(text);
	});
	return [...texts];
}

export interface Resolution {
	/** Ids as `Patient/1`, by the full URLs and conditional references of a transaction. */
	resolved: ReadonlyMap<string, string>;
	/** True when references must lead to resources of this site. */
	checked: boolean;
	/** Tells of a full URL whether it also names its resource outside of the transaction. Absent: none does. */
	isCanonical?: ((fullUrl: string) => boolean) | undefined;
}

/**
 * Replaces the full URLs by which the entries of a transaction refer to one another by ids (FHIR R4 §3.1.0.11.2): in references, in
 * elements of
 * the types for URIs, and in the links and images of narratives. The resource is changed in place.
 * @throws Failure for a conditional reference, and, if references are checked, for a `urn:` that no entry has
 */
export function resolveReferences(type: string, resource: JsonObject, { resolved, checked, isCanonical }: Resolution): void {
	const linked = (url: string) => (isFullUrl(url) && isCanonical?.(url) !== true ? resolved.get(url) : undefined);
	visitTexts(resource, (text, holder, key, steps) => {
		if (!isReference(holder, key)) {
			if (resolved.size > 0) relink(text, { type, resource, holder, key, steps, linked });
			return;
		}
		const found = resolved.get(text);
		if (found !== undefined) holder['reference'] = found;
		else if (checked && /^urn:(?:uuid|oid):/.test(text)) {
			throw new Failure('unknown-key', 'the reference matches no resource of this site', {
				location: { expression: expressionOf(type, steps) },
			});
		} else if (isConditional(text)) {
			throw new Failure('not-supported', 'conditional references are resolved in transactions only', {
				location: { expression: expressionOf(type, steps) },
			});
		}
	});
}

interface Place {
	type: string;
	resource: JsonObject;
	holder: JsonObject | Json[];
	key: Step;
	steps: readonly Step[];
	/** Returns what takes the place of a URL. */
	linked(url: string): string | undefined;
}

/** The types of R4 §3.1.0.11.2, and `canonical`, which is a URI of a special use. */
const uriTypes: ReadonlySet<string | undefined> = new Set(['uri', 'url', 'oid', 'uuid', 'canonical']);

/** Replaces a text that is a full URL, or has links by them. The type is looked up only for such a text, because few are. */
function relink(text: string, { type, resource, holder, key, steps, linked }: Place): void {
	if (key === 'div') {
		if (!mayHaveLinks(text) || primitiveTypeAt(type, resource, [...steps, key]) !== 'xhtml') return;
		const other = relinked(text, linked);
		if (other !== text) replaceText(holder, key, other);
		return;
	}
	const found = linked(text);
	if (found !== undefined && uriTypes.has(primitiveTypeAt(type, resource, [...steps, key]))) replaceText(holder, key, found);
}

/** Conditions are keys of the same map, and begin with the name of a type. */
function isFullUrl(text: string): boolean {
	return text.startsWith('urn:') || text.startsWith('http');
}
