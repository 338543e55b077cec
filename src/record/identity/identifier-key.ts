import { identifierLengthMax } from '../holdings/patient-identifiers.ts';
import type { Identifier } from '../resource-patch.ts';

/** An entry of a B-tree has 2,704 bytes at most; that of an identifier also holds two UUIDs and the lengths of its texts. */
const indexedBytesMax = 2600;

/** Tells whether the index of identifiers can hold a value and its system. */
export function isIndexable(value: string, system: string): boolean {
	if (value.length > identifierLengthMax || system.length > identifierLengthMax) return false;
	// A character takes at most three bytes for each unit of UTF-16.
	if ((value.length + system.length) * 3 <= indexedBytesMax) return true;
	return Buffer.byteLength(value) + Buffer.byteLength(system) <= indexedBytesMax;
}

export function systemOf(identifier: Identifier): string {
	const system = identifier['system'];
	return typeof system === 'string' ? system : '';
}

/** Returns the key of an identifier. Two identifiers with the same system and value have the same key. */
export function identifierKey(identifier: Identifier): string {
	const system = systemOf(identifier);
	return `${system.length} ${system}${identifier.value}`;
}
