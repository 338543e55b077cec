import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText } from '../elements.ts';
import type { ResourceDefinition } from '../resource.ts';
import { validateResource } from '../validation/validate.ts';

/** A resource in its stored form. */
export interface Content {
	/** The resource without resourceType, id and meta. */
	resource: JsonObject;
	/** JSON text of the client's meta beside version, time and source; null when there is none. */
	meta: string | null;
	source: string | undefined;
}

export interface ContentOptions {
	/** True when a reference may be a search, which a transaction resolves. */
	conditionalReferences?: boolean;
	/** The largest number of values in a list. */
	repetitionsMax?: number;
}

/**
 * Checks a resource and separates the client's content from the parts that the service assigns.
 * @throws Failure `invalid-resource` with one issue for each fault, `value-too-long` when one of them is a list with too many values
 */
export function contentOf({ type }: ResourceDefinition, given: JsonObject, options: ContentOptions = {}): Content {
	if (given['resourceType'] !== type) {
		const fault = typeof given['resourceType'] === 'string' ? 'does not match the URL' : 'is missing';
		throw new Failure('invalid-resource', `resourceType ${fault}: ${type} is expected`, { location: { expression: 'resourceType' } });
	}
	const issues = validateResource(given, options);
	if (issues.length > 0) {
		const text = issues.length === 1 ? (issues[0]?.diagnostics ?? '') : `the resource has ${issues.length} faults`;
		throw new Failure(issues.some(({ code }) => code === 'too-long') ? 'value-too-long' : 'invalid-resource', text, { issues });
	}
	const { resourceType: _type, id: _id, meta, ...resource } = given;
	const held = asObject(meta);
	if (held && isSubsetted(held)) {
		throw new Failure('business-rule', 'the resource is marked SUBSETTED and would overwrite the elements that it leaves out', {
			location: { expression: `${type}.meta.tag` },
		});
	}
	return { resource, ...metaOf(held) };
}

function metaOf(meta: JsonObject | undefined): Pick<Content, 'meta' | 'source'> {
	if (meta === undefined) return { meta: null, source: undefined };
	const { versionId: _version, _versionId, lastUpdated: _updated, _lastUpdated, source, ...further } = meta;
	return { meta: Object.keys(further).length === 0 ? null : JSON.stringify(further), source: asText(source) };
}

/** Tells whether a resource was read in part; it must not be written back (FHIR R4 §3.1.1.5.8). */
function isSubsetted(meta: JsonObject): boolean {
	return asObjects(meta['tag']).some((tag) => tag['code'] === 'SUBSETTED');
}
