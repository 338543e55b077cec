import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import { cursorParameter } from '#fhir/search/result.ts';

/** Changes with the form of cursors. An older cursor is then refused rather than misread. */
const form = 2;
/** Lengths that AES-GCM prescribes (NIST SP 800-38D). */
const ivLength = 12;
const tagLength = 16;

/** The scope in which a cursor is valid. */
export interface CursorScope {
	siteId: string;
	/** The paged list: a type, a history, or the compartment of a patient. */
	of: string;
	/** The parameters of the search in their order. */
	applied: readonly (readonly [string, string])[];
}

/**
 * Seals the position at which a page ended. A cursor travels in URLs and may hold a name or a birth date, because pages are sorted by
 * them. So only the service can read it, and it is valid for its own site and search only. The isolation of sites does not depend on this:
 * whatever a cursor holds, only rows of the key's site are read.
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

	/** @throws Failure `invalid` for a cursor of another site or search, or one that this service did not issue */
	open(scope: CursorScope, cursor: string): (string | null)[] {
		const bytes = Buffer.from(cursor, 'base64url');
		try {
			const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivLength)).setAAD(binding(scope));
			decipher.setAuthTag(bytes.subarray(-tagLength));
			const text = Buffer.concat([decipher.update(bytes.subarray(ivLength, -tagLength)), decipher.final()]).toString('utf8');
			return JSON.parse(text);
		} catch (cause) {
			throw new Failure('invalid', 'the page cursor does not belong to this search', { location: { expression: cursorParameter }, cause });
		}
	}
}

function binding({ siteId, of, applied }: CursorScope): Buffer {
	return Buffer.from(JSON.stringify([form, siteId, of, applied]));
}
