import type { Json, JsonObject } from '#core/json.ts';

/** Reading JSON whose shape was never promised: what is not there, or is something else, is undefined or empty. */
export function asObject(value: Json | undefined): JsonObject | undefined {
	return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined;
}

export function asObjects(value: Json | undefined): JsonObject[] {
	return Array.isArray(value) ? value.map((item) => asObject(item)).filter((item) => item !== undefined) : [];
}

export function asText(value: Json | undefined): string | undefined {
	return typeof value === 'string' ? value : undefined;
}

export function asTexts(value: Json | undefined): string[] {
	return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
