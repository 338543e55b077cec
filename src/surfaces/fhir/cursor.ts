import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Failure } from '#core/failure.ts';

/** Changes when the form of cursors does; an older one is then refused, not misread. */
const form = 2;
const ivLength = 12;
const tagLength = 16;

/** What a cursor is good for. */
export interface CursorScope {
	siteId: string;
	/** What is paged: a type, a history, the compartment of a patient. */
	of: string;
	/** The parameters of the search, in their order. */
	applied: readonly (readonly [string, string])[];
}

/**
 * Seals where a page ended. A cursor may hold a name or a birth date, since pages are in their order, and it travels in
 * URLs: so nobody but the service reads it, and it opens for its own site and search only. That is not the wall between
 * sites: whatever a cursor says, rows are read of the key's site only.
 */
export class Cursors {
	readonly #key: Uint8Array;

	/** @param key of 32 bytes, the same on every node */
	constructor(key: Uint8Array) {
		this.#key = key;
	}

	seal(scope: CursorScope, position: readonly (string | null)[]): string {
		const iv = randomBytes(ivLength);
		const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(binding(scope));
		const sealed = Buffer.concat([cipher.update(JSON.stringify(position), 'utf8'), cipher.final()]);
		return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url');
	}

	/** @throws Failure `invalid` for a cursor of another site or search, or none of ours */
	open(scope: CursorScope, cursor: string): (string | null)[] {
		const bytes = Buffer.from(cursor, 'base64url');
		try {
			const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivLength)).setAAD(binding(scope));
			decipher.setAuthTag(bytes.subarray(-tagLength));
			const text = Buffer.concat([decipher.update(bytes.subarray(ivLength, -tagLength)), decipher.final()]).toString('utf8');
			return JSON.parse(text);
		} catch (cause) {
			throw new Failure('invalid', 'the page cursor does not belong to this search', { location: { expression: '_cursor' }, cause });
		}
	}
}

function binding({ siteId, of, applied }: CursorScope): Buffer {
	return Buffer.from(JSON.stringify([form, siteId, of, applied]));
}
