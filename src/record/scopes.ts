import { Failure } from '#core/failure.ts';

/** SMART App Launch 2 lets a scope permit these: create, read, update, delete, search. */
export type Permission = 'c' | 'r' | 'u' | 'd' | 's';

/** The letters that are permitted, by resource type; `*` stands for every type. It is plain data, and crosses to the workers. */
export type Scopes = Readonly<Record<string, string>>;

const everyType = '*';
/** The first version of SMART has words in place of letters. */
const words: Readonly<Record<string, string>> = { read: 'rs', write: 'cud', '*': 'cruds' };
/** `system/Observation.rs`, `system/*.read`. The letters stand in the order of the word cruds. */
const systemScope = /^system\/(\*|[A-Z][A-Za-z]{0,63})\.(read|write|\*|(?=[cruds])c?r?u?d?s?)$/;

/**
 * Reads the scopes of a token (SMART App Launch 2.2, "Scopes for requesting FHIR resources"). Only `system/` scopes without search
 * parameters permit anything. A `patient/` or `user/` scope depends on a person, whom a backend service does not have. A scope with search
 * parameters permits part of a type, and to ignore them would permit all of it.
 */
export function readScopes(texts: readonly string[]): Scopes {
	const scopes: Record<string, string> = {};
	for (const text of texts) {
		const [, type, letters] = systemScope.exec(text) ?? [];
		if (type === undefined || letters === undefined) continue;
		scopes[type] = (scopes[type] ?? '') + (words[letters] ?? letters);
	}
	return scopes;
}

/** Tells what a caller may do with a type. Without scopes the caller has an API key, which permits everything at its site. */
export function permits(scopes: Scopes | undefined, type: string, permission: Permission): boolean {
	if (scopes === undefined) return true;
	return (scopes[everyType] ?? '').includes(permission) || (Object.hasOwn(scopes, type) && (scopes[type] ?? '').includes(permission));
}

/** The name of the scope that would permit it. */
export function scopeName(type: string, ...permissions: readonly Permission[]): string {
	return `system/${type}.${permissions.join('')}`;
}

/** @throws Failure `insufficient-scope` that names the missing scope */
export function requireScope(scopes: Scopes | undefined, type: string, permission: Permission): void {
	if (!permits(scopes, type, permission)) throw missingScope(scopeName(type, permission));
}

export function missingScope(...names: readonly string[]): Failure {
	const scope = names.join(' ');
	return new Failure('insufficient-scope', `the access token does not have the scope ${names.join(' and ')}`, { scope });
}
