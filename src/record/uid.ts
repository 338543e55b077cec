const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;

/** True when a component may have leading zeros, which PS3.5 §9.1 forbids and old devices send. */
export type UidRule = 'strict' | 'lenient';

/**
 * Tells whether a text is a UID (PS3.5 §9.1): at most 64 characters, components of digits without a leading zero, joined by dots. UIDs with
 * a single component occur and are accepted. What is already stored is looked up by the lenient rule.
 */
export function isUid(text: string, rule: UidRule = 'strict'): boolean {
	if (text.length === 0 || text.length > 64) return false;
	let start = 0;
	for (let at = 0; at <= text.length; at++) {
		const code = at === text.length ? dot : text.charCodeAt(at);
		if (code === dot) {
			const hasLeadingZero = at > start + 1 && text.charCodeAt(start) === zero;
			if (at === start || (hasLeadingZero && rule === 'strict')) return false;
			start = at + 1;
		} else if (code < zero || code > nine) return false;
	}
	return true;
}

/** Tells whether a UID lies under one of the three root arcs that there are (ITU-T X.660): 0, 1 and 2. */
export function hasRootArc(text: string, rule: UidRule = 'strict'): boolean {
	return (rule === 'strict' ? /^[012](?:\.|$)/ : /^0*[012](?:\.|$)/).test(text);
}

/** Tells whether a UID may name a new object. It needs at least two components, as under every registered root. */
export function isObjectUid(text: string, rule: UidRule = 'strict'): boolean {
	return isUid(text, rule) && text.includes('.');
}
