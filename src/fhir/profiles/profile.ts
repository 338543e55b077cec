import type { Json } from '#core/json.ts';

/** A profile in the form in which it is kept: what its StructureDefinition demands beyond the definition of the type, and nothing else. */
export interface Profile {
	kind: 'StructureDefinition';
	url: string;
	version?: string;
	name: string;
	/** The type that is constrained: a resource type, or a datatype such as Extension. */
	type: string;
	/** The canonical URL of the definition on which it builds. */
	base?: string;
	/** True when the elements already include those of `base`, as a snapshot does. */
	whole: boolean;
	elements: ProfileElement[];
}

/** The rules of one element. A rule that is absent demands nothing. */
export interface ProfileElement {
	/** The path with the names of slices: `Observation.category:VSCat.coding.code`. */
	id: string;
	min?: number;
	/** A number, or `*`. */
	max?: string;
	fixed?: Json;
	pattern?: Json;
	types?: ElementType[];
	slicing?: Slicing;
	/** The canonical URL of the value set that is required. */
	binding?: string;
	invariants?: Invariant[];
}

export interface ElementType {
	code: string;
	profiles?: string[];
	/** Profiles of what a reference leads to. */
	targets?: string[];
}

export interface Slicing {
	discriminators: Discriminator[];
	closed?: true;
}

export interface Discriminator {
	type: 'value' | 'pattern' | 'exists' | 'type' | 'profile';
	path: string;
}

/** A rule in FHIRPath. */
export interface Invariant {
	key: string;
	/** True for one that is only recommended. */
	warns?: true;
	human: string;
	expression: string;
}

/** Divides `url|version`. */
export function canonicalOf(text: string): { url: string; version: string | undefined } {
	const at = text.indexOf('|');
	return at < 0 ? { url: text, version: undefined } : { url: text.slice(0, at), version: text.slice(at + 1) };
}

const core = 'http://hl7.org/fhir/StructureDefinition/';

/** Returns the type that a canonical URL of R4 itself defines. Profiles of R4 begin with a small letter, and so do primitive types. */
export function typeOfCore(canonical: string): string | undefined {
	const { url } = canonicalOf(canonical);
	const name = url.startsWith(core) ? url.slice(core.length) : '';
	return /^[A-Z][A-Za-z]+$/.test(name) ? name : undefined;
}

const primitives: ReadonlySet<string> = new Set(
	'base64Binary boolean canonical code date dateTime decimal id instant integer markdown oid positiveInt string time unsignedInt uri url uuid'.split(
		' ',
	),
);

/** Tells whether a canonical URL is that of a type of R4, for which no profile is needed. */
export function isCore(canonical: string): boolean {
	const { url } = canonicalOf(canonical);
	return typeOfCore(url) !== undefined || (url.startsWith(core) && primitives.has(url.slice(core.length)));
}
