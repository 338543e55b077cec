import type { Json, JsonObject } from '#core/json.ts';

/** A person, as the provider knows them. */
export interface ProviderIdentity {
	subject: string;
	/** In lower case; undefined if the provider states none. */
	email: string | undefined;
	/** The provider has checked that the address is the person's. */
	isVerified: boolean;
	/** Undefined if the provider states none. */
	groups: readonly string[] | undefined;
	/** The session at the provider, by which it can end. */
	session: string | null;
}

/** Directories have people in hundreds of groups. Nobody needs more here. */
const groupsMax = 2000;

/** OpenID Connect Core 1.0 §2. */
const subjectMax = 255;

/** @throws Error when the provider names the person otherwise than the standard permits */
export function readIdentity(claims: JsonObject, groupsClaim: string): ProviderIdentity {
	const { sub, email, sid } = claims;
	if (typeof sub !== 'string' || sub.length > subjectMax) throw new Error('the provider states no subject of 255 characters at most');
	const address = typeof email === 'string' && /^[^\s@]+@[^\s@]+$/.test(email) && email.length <= 254 ? email.toLowerCase() : undefined;
	return {
		subject: sub,
		email: address,
		isVerified: claims['email_verified'] === true,
		groups: groupsOf(claims, groupsClaim),
		session: typeof sid === 'string' ? sid : null,
	};
}

/** A claim may be a list or one text. Its name may be that of the claim, or a path into it: `realm_access.roles`. */
function groupsOf(claims: JsonObject, name: string): readonly string[] | undefined {
	const value = Object.hasOwn(claims, name) ? claims[name] : memberAt(claims, name.split('.'));
	if (typeof value === 'string') return [value];
	if (!Array.isArray(value)) return undefined;
	return value.filter((group) => typeof group === 'string').slice(0, groupsMax);
}

function memberAt(value: Json | undefined, [name, ...rest]: readonly string[]): Json | undefined {
	if (name === undefined) return value;
	if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined;
	return memberAt(value[name], rest);
}
