import type { StoredInstance } from './instance.ts';

/** A part of the layout between the threads of one process. */
const lengthBytes = 4;

/**
 * Packs the bytes of an instance's delivery: the length of the instance in JSON (UInt32LE), the instance, and the pieces of its object if
 * it
 * is included.
 */
export function packInstance(instance: StoredInstance, object: readonly Uint8Array[] | undefined): Uint8Array {
	const json = JSON.stringify(instance);
	const jsonBytes = Buffer.byteLength(json);
	const bytes = Buffer.allocUnsafe(lengthBytes + jsonBytes + (object === undefined ? 0 : instance.bytes));
	bytes.writeUInt32LE(jsonBytes, 0);
	bytes.write(json, lengthBytes, 'utf8');
	let at = lengthBytes + jsonBytes;
	for (const piece of object ?? []) {
		bytes.set(piece, at);
		at += piece.length;
	}
	return bytes;
}

export function unpackInstance(bytes: Uint8Array): { instance: StoredInstance; json: Uint8Array; object: Uint8Array | undefined } {
	const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const end = lengthBytes + all.readUInt32LE(0);
	const json = all.subarray(lengthBytes, end);
	const instance = JSON.parse(json.toString('utf8')) as StoredInstance;
	return { instance, json, object: end < all.length ? all.subarray(end) : undefined };
}
