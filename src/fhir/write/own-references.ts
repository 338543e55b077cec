import type { JsonObject } from '#core/json.ts';
import { resourceTypes } from '../validation/schemas/resource-types.ts';
import type { FullUrls } from './full-urls.ts';
import { isReference, replaceText, visitTexts } from './texts.ts';

const named = /^([A-Za-z]+)\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;

/**
 * Makes references below this service's own base relative (FHIR R4 §2.3.0.1), so that they lead to the resource as `Patient/1` does. One that names an
 * entry of its Bundle keeps its full URL, in whose place the id of the entry comes later. The resource is changed in place.
 * @param base the FHIR base URL as the sender reached it; empty if nothing names it
 */
export function relateToOwnBase(resource: JsonObject, base: string, fullUrls: FullUrls | undefined): void {
	if (base === '') return;
	const prefix = `${base.toLowerCase()}/`;
	visitTexts(resource, (text, holder, key) => {
		if (!isReference(holder, key) || !text.slice(0, prefix.length).toLowerCase().startsWith(prefix)) return;
		const rest = text.slice(prefix.length);
		const [, type = ''] = named.exec(rest) ?? [];
		if (resourceTypes.has(type) && fullUrls?.names(text) !== true) replaceText(holder, key, rest);
	});
}
