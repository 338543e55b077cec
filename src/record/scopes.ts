import { Failure } from '#core/failure.ts';
import { type KeyScope, missingKeyScope } from './key-scopes.ts';
import { isFhirId } from './row-id.ts';

/** SMART App Launch 2 lets a scope permit these: create, read, update, delete, search. */
export type Permission = 'c' | 'r' | 'u' | 'd' | 's';

/** A scope that permits a part of the resources of a type. All that it names must hold. */
export interface PartialScope {
	/** The resource type; `*` stands for every type. */
	type: string;
	letters: string;
	/** The FHIR id of the patient in whose compartment the resources are. */
	patient?: string;
	/** Search parameters that the resources match, as in a URL. */
	search?: string;
}

/**
 * The permissions of a caller. It is plain data, and crosses to the workers. `whole` has the letters that are permitted of all resources of a
 * type, by type. `parts` permits less, and counts only where its limits are carried out: `permits` and `requireScope` do not know of it.
 */
export interface Scopes {
	readonly whole: Readonly<Record<string, string>>;
	readonly parts: readonly PartialScope[];
	/** They are those of an API key, and a refusal names what the key lacks. */
	readonly ofKey?: true;
}

/** Stands for every type. */
const everyType = '*';
/** The first version of SMART has words in place of letters. */
const words: Readonly<Record<string, string>> = { read: 'rs', write: 'cud', '*': 'cruds' };
/** `system/Observation.rs`, `patient/*.read`, `system/Observation.rs?category=laboratory`. The letters stand in the order of the word cruds. */
const scopeForm = /^(system|user|patient)\/(\*|[A-Z][A-Za-z]{0,63})\.(read|write|\*|(?=[cruds])c?r?u?d?s?)(?:\?(.+))?$/;
/** Further ones permit nothing. Each is a condition of every search. */
const partsMax = 40;

/**
 * Reads the scopes of a token (SMART App Launch 2.2, "Scopes for requesting FHIR resources"). `patient` is the FHIR id in the claim of this
 * name. A `patient/` scope permits what is in the compartment of that patient, and nothing without one. A `user/` scope is a `system/` scope,
 * but permits nothing in a token that was launched for a patient.
 */
export function readScopes(texts: readonly string[], patient?: unknown): Scopes {
	const whole: Record<string, string> = {};
	const parts: PartialScope[] = [];
	const isLaunched = patient !== undefined || texts.some((text) => /^launch(?:\/|$)/.test(text));
	for (const text of texts) {
		const [, level, type, form, search] = scopeForm.exec(text) ?? [];
		if (type === undefined || form === undefined || (level === 'user' && isLaunched)) continue;
		const letters = words[form] ?? form;
		if (level !== 'patient' && search === undefined) {
			whole[type] = (whole[type] ?? '') + letters;
			continue;
		}
		// The first version of SMART has no search parameters.
		if (parts.length >= partsMax || (search !== undefined && form in words)) continue;
		const limits = { ...(search !== undefined && { search }) };
		if (level !== 'patient') parts.push({ type, letters, ...limits });
		else if (typeof patient === 'string' && isFhirId(patient)) parts.push({ type, letters, patient, ...limits });
	}
	return { whole, parts };
}

/** Returns what a limited key permits on FHIR, where an entry of a Bundle or a condition may need more than its route. */
export function fhirScopesOf(scopes: readonly KeyScope[]): Scopes {
	const letters = `${scopes.includes('read') ? 'rs' : ''}${scopes.includes('write') ? 'cud' : ''}`;
	return { whole: { '*': letters }, parts: [], ofKey: true };
}

/**
 * Tells whether a caller may do something with every resource of a type. Without scopes the caller has an API key that permits everything
 * at its site.
 */
export function permits(scopes: Scopes | undefined, type: string, permission: Permission): boolean {
	return holds(scopes, scopeTypeOf(type, permission), permission);
}

/**
 * Returns the type whose scope decides. The security context of a Binary (FHIR R4 §2.42) may be of any type, so only who may read them all
 * may search Binaries, read their versions together, include or export them.
 */
function scopeTypeOf(type: string, permission: Permission): string {
	return type === 'Binary' && (permission === 'r' || permission === 's') ? everyType : type;
}

function holds(scopes: Scopes | undefined, type: string, permission: Permission): boolean {
	if (scopes === undefined) return true;
	const { whole } = scopes;
	return (whole[everyType] ?? '').includes(permission) || (Object.hasOwn(whole, type) && (whole[type] ?? '').includes(permission));
}

/** Returns the scopes that permit something with some resources of a type. Whoever uses it carries their limits out. */
export function partsOf(scopes: Scopes | undefined, type: string, permission: Permission): readonly PartialScope[] {
	return (scopes?.parts ?? []).filter((part) => (part.type === type || part.type === everyType) && part.letters.includes(permission));
}

/** The name of the scope that would permit it. */
export function scopeName(type: string, ...permissions: readonly [Permission, ...Permission[]]): string {
	return `system/${scopeTypeOf(type, permissions[0])}.${permissions.join('')}`;
}

/** @throws Failure `insufficient-scope` that names the missing scope */
export function requireScope(scopes: Scopes | undefined, type: string, permission: Permission): void {
	if (!permits(scopes, type, permission)) throw missingScope(scopes, scopeName(type, permission));
}

/**
 * Requires the permission to read one Binary. Whoever uses it asks for the scope of its security context too.
 * @throws Failure `insufficient-scope` that names the missing scope
 */
export function requireOneBinary(scopes: Scopes | undefined): void {
	if (!holds(scopes, 'Binary', 'r')) throw missingScope(scopes, 'system/Binary.r');
}

/**
 * Requires the permission for all or some resources of a type. Whoever uses it carries the limits out, see `partsOf`.
 * @throws Failure `insufficient-scope` that names the missing scope
 */
export function requireSome(scopes: Scopes | undefined, type: string, permission: Permission): void {
	if (partsOf(scopes, type, permission).length === 0) requireScope(scopes, type, permission);
}

export function missingScope(scopes: Scopes | undefined, ...names: readonly string[]): Failure {
	if (scopes?.ofKey === true) {
		const lacks = (letters: RegExp) => names.some((name) => letters.test(name.slice(name.lastIndexOf('.') + 1)));
		return missingKeyScope(...(lacks(/[rs]/) ? (['read'] as const) : []), ...(lacks(/[cud]/) ? (['write'] as const) : []));
	}
	const scope = names.join(' ');
	return new Failure('insufficient-scope', `the access token does not have the scope ${names.join(' and ')}`, { scope });
}
