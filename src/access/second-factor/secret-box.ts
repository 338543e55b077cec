import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '#core/failure.ts';
import { isSecretKey } from '#core/secret-key.ts';

const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
/** Tells which key sealed something, without telling the key. */
const nameBytes = 4;

export interface SecretBoxOptions {
	/** The key in base64; undefined: the file in `dataDir`. */
	key: string | undefined;
	dataDir: string;
}

/**
 * Seals secrets that the service has to read again, by AES-256-GCM, with a key that is not in the database. A copy of the database alone does
 * not tell them.
 */
export class SecretBox {
	readonly #options: SecretBoxOptions;
	#held: Buffer | undefined;

	constructor(options: SecretBoxOptions) {
		this.#options = options;
	}

	/** @param of whose secret it is; it cannot be opened as that of somebody else */
	seal(secret: Uint8Array, of: string): Buffer {
		const key = this.#key();
		const iv = randomBytes(ivBytes);
		const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(of));
		const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
		return Buffer.concat([nameOf(key), iv, cipher.getAuthTag(), sealed]);
	}

	/** @throws Failure `internal` when another key sealed it, or it was changed */
	open(sealed: Buffer, of: string): Buffer {
		const key = this.#key();
		if (!sealed.subarray(0, nameBytes).equals(nameOf(key)))
			throw new Failure('internal', 'this node has another SECOND_FACTOR_KEY than the one that set up the second factor');
		const tagAt = nameBytes + ivBytes;
		const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(nameBytes, tagAt), { authTagLength: tagBytes });
		decipher.setAAD(Buffer.from(of)).setAuthTag(sealed.subarray(tagAt, tagAt + tagBytes));
		try {
			return Buffer.concat([decipher.update(sealed.subarray(tagAt + tagBytes)), decipher.final()]);
		} catch (cause) {
			throw new Failure('internal', 'the stored second factor is damaged', { cause });
		}
	}

	#key(): Buffer {
		this.#held ??= Buffer.from(this.#options.key ?? keyInFile(join(this.#options.dataDir, 'second-factor.key')), 'base64');
		return this.#held;
	}
}

function nameOf(key: Buffer): Buffer {
	return createHash('sha256').update('name').update(key).digest().subarray(0, nameBytes);
}

/** Makes the key when it is first needed. Of two processes that do so at once, one makes it and both take it. */
function keyInFile(path: string): string {
	try {
		writeFileSync(path, randomBytes(keyBytes).toString('base64'), { flag: 'wx', mode: 0o600, flush: true });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
	}
	if ((statSync(path).mode & 0o077) !== 0)
		throw new Failure('internal', 'others may read the file second-factor.key; its mode has to be 0600');
	const text = readFileSync(path, 'utf8').trim();
	if (!isSecretKey(text)) throw new Failure('internal', 'the file second-factor.key has no key of 32 bytes in base64');
	return text;
}
