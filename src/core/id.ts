import { hash, randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let offset = pool.length;
let lastMs = 0;
let counter = 0;

/** A clock is set back by less while it is kept right. */
const backMsMax = 60_000;

/**
 * A UUID version 7 (RFC 9562 §5.7): 48 bits of milliseconds, then a 12-bit counter (`rand_a`, method 1 of §6.2) so
 * that ids made in one millisecond of one thread still sort in the order in which they were made. They do so, too, when the clock is set back a
 * little. A clock that had been far ahead is followed back, or every id until then would have a time that has not come.
 */
export function newId(nowMs: number = Date.now()): string {
	if (nowMs > lastMs || nowMs < lastMs - backMsMax) {
		lastMs = nowMs;
		counter = 0;
	} else if (++counter > 0xfff) {
		lastMs += 1;
		counter = 0;
	}
	if (offset + 8 > pool.length) {
		randomFillSync(pool);
		offset = 0;
	}
	pool[offset] = ((pool[offset] as number) & 0x3f) | 0x80;
	const random = pool.toString('hex', offset, offset + 8);
	offset += 8;
	const time = lastMs.toString(16).padStart(12, '0');
	const sequence = counter.toString(16).padStart(3, '0');
	return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${random.slice(0, 4)}-${random.slice(4)}`;
}

/** Returns a UUID version 8 (RFC 9562 §5.8) made of the SHA-256 of a name: the same one for the same name. */
export function namedId(name: string): string {
	const hex = hash('sha256', name);
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isUuid(text: string): boolean {
	return uuidPattern.test(text);
}

/** Fills an id column that may not be null: the HTTP surface has no integration client. */
export const nilId = '00000000-0000-0000-0000-000000000000';
