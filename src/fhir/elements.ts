import type { Json, JsonObject } from '#core/json.ts';

/** Reads JSON of unknown shape. A value that is missing or of another type is undefined or empty. */
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
