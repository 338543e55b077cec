/**
 * Reads `key=value,key=value` with percent-encoded values, as OpenTelemetry has it from W3C Baggage. Returns undefined where the text is not of this
 * form.
 */
export function parseKeyValues(text: string): Record<string, string> | undefined {
	const entries: [string, string][] = [];
	for (const part of text.split(',')) {
		const [key = '', ...rest] = part.split('=');
		if (part.trim() === '') continue;
		if (rest.length === 0 || !/^[\x21-\x7e]+$/.test(key.trim())) return undefined;
		try {
			entries.push([key.trim(), decodeURIComponent(rest.join('=').trim())]);
		} catch {
			return undefined;
		}
	}
	return Object.fromEntries(entries);
}
