import type { JsonObject } from '#core/json.ts';
import { asObject } from '../elements.ts';
import type { Compiled } from './compile.ts';
import type { Library } from './library.ts';

/** The most profiles of `meta.profile` that are looked at. It bounds the work of one write, and no resource claims more. */
const declaredMax = 20;

/** The profiles that a resource claims to conform to (`meta.profile`). */
export interface Declared {
	known: Compiled[];
	unknown: { canonical: string; expression: string }[];
}

export function declaredProfiles(resource: JsonObject, library: Library): Declared {
	const claims = asObject(resource['meta'])?.['profile'];
	const declared: Declared = { known: [], unknown: [] };
	if (!Array.isArray(claims)) return declared;
	for (const [index, canonical] of claims.slice(0, declaredMax).entries()) {
		if (typeof canonical !== 'string') continue;
		const compiled = library.profile(canonical);
		if (compiled !== undefined) declared.known.push(compiled);
		else declared.unknown.push({ canonical, expression: `${String(resource['resourceType'])}.meta.profile[${index}]` });
	}
	return declared;
}
