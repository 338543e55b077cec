import { createHmac, timingSafeEqual } from 'node:crypto';

/** Time-based one-time passwords (RFC 6238) as authenticator apps make them: SHA-1, six digits, 30 seconds. */
const stepMs = 30_000;
const digits = 6;
/** The steps before and after the present one that count, for clocks that differ and people who are slow (RFC 6238 §5.2). */
const window = 1;

/** RFC 4226 §5.3 */
export function codeAt(secret: Uint8Array, step: number): string {
	const counter = Buffer.alloc(8);
	counter.writeBigUInt64BE(BigInt(step));
	const hash = createHmac('sha1', secret).update(counter).digest();
	const offset = (hash[hash.length - 1] ?? 0) & 0x0f;
	return String((hash.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits).padStart(digits, '0');
}

export function stepAt(nowMs: number): number {
	return Math.floor(nowMs / stepMs);
}

/** Returns the step of which it is the code, or undefined if it is of none that counts now. */
export function stepOf(code: string, secret: Uint8Array, nowMs: number): number | undefined {
	const now = stepAt(nowMs);
	let found: number | undefined;
	// Every step is compared, so that the time does not tell which one fits.
	for (let step = now - window; step <= now + window; step++) {
		const expected = Buffer.from(codeAt(secret, step));
		const given = Buffer.from(code);
		if (given.length === expected.length && timingSafeEqual(given, expected)) found = step;
	}
	return found;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 §6, without padding. */
export function base32(bytes: Uint8Array): string {
	let text = '';
	let bits = 0;
	let held = 0;
	for (const byte of bytes) {
		held = (held << 8) | byte;
		bits += 8;
		for (; bits >= 5; bits -= 5) text += alphabet[(held >>> (bits - 5)) & 31];
		held &= (1 << bits) - 1;
	}
	return bits === 0 ? text : text + alphabet[(held << (5 - bits)) & 31];
}

/** The address that authenticator apps read from a QR code (Google Authenticator, "Key Uri Format"). */
export function otpauthUri(secret: Uint8Array, email: string, name: string): string {
	const label = `${encodeURIComponent(name)}:${encodeURIComponent(email)}`;
	return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(name)}`;
}
