import type { Settings } from './settings.ts';
import { isContentCharset } from './table.ts';

/** The settings with each charset, so that all messages of a sender have one object, which crosses to a thread once. */
const made = new WeakMap<Settings, Map<string, Settings>>();

/** `charset` is as in Content-Type, in any case. One that HL7 v2 is not sent in changes nothing. */
export function withContentCharset(settings: Settings, charset: string): Settings {
	const name = charset.toUpperCase();
	if (!isContentCharset(name)) return settings;
	const known = made.get(settings) ?? new Map<string, Settings>();
	made.set(settings, known);
	const found = known.get(name) ?? Object.freeze({ ...settings, charset: name });
	known.set(name, found);
	return found;
}

/** Returns the charset of Content-Type among settings; undefined if they have none, or one that somebody has set. */
export function contentCharsetOf(settings: Settings | undefined): Settings | undefined {
	const charset = settings?.charset;
	return isContentCharset(charset) ? { charset } : undefined;
}
