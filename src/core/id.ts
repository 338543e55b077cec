import { hash, randomFillSync } from 'node:crypto';

const poolBytes = 4096;
const pool = Buffer.alloc(poolBytes);
/** The random bits of the next ids in hexadecimal: to convert them for each id costs more than all else. */
let randomText = '';
let used = 0;
let lastMs = 0;
let timeText = '00000000-0000';
let counter = 0;

/** A clock is set back by less while it is kept right. */
const backMsMax = 60_000;

/**
 * A UUID version 7 (RFC 9562 §5.7): 48 bits of milliseconds, then a 12-bit counter (`rand_a`, method 1 of §6.2) so
 * that ids made in one millisecond of one thread still sort in the order in which they were made. They do so, too, when the clock is set back a
 * little. A clock that had been far ahead is followed back, or every id until then would have a time that has not come.
 */
export function newId(nowMs: number = Date.now()): string {
	if (nowMs > lastMs || nowMs < lastMs - backMsMax) setTime(nowMs);
	else if (++counter > 0xfff) setTime(lastMs + 1);
	if (used === randomText.length) fillPool();
	const sequence = counter.toString(16).padStart(3, '0');
	const random = `${randomText.slice(used, used + 4)}-${randomText.slice(used + 4, used + 16)}`;
	used += 16;
	return `${timeText}-7${sequence}-${random}`;
}

function setTime(ms: number): void {
	lastMs = ms;
	counter = 0;
	const time = ms.toString(16).padStart(12, '0');
	timeText = `${time.slice(0, 8)}-${time.slice(8)}`;
}

function fillPool(): void {
	randomFillSync(pool);
	// The variant takes two bits of each eight bytes (RFC 9562 §4.1).
	for (let offset = 0; offset < poolBytes; offset += 8) pool[offset] = ((pool[offset] as number) & 0x3f) | 0x80;
	randomText = pool.toString('hex');
	used = 0;
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
