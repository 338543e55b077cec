import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** The parameters of scrypt (RFC 7914). */
export interface PasswordCost {
	N: number;
	r: number;
	p: number;
}

/** 32 MiB and about 200 ms a guess. No setting lowers it. */
const cost: PasswordCost = { N: 32_768, r: 8, p: 3 };
/** A part of the format in which passwords are stored. */
const hashBytes = 32;

const stored = /^scrypt\$(\d{1,7})\$(\d{1,2})\$(\d{1,2})\$([\w-]{22})\$([\w-]{43})$/;

/** Creates a one-time password of 120 random bits. */
export function oneTimePassword(): string {
	return randomBytes(15).toString('base64url');
}

/** Hashes passwords and checks them. The product has one cost; tests that sign in often give a lower one. */
export class Passwords {
	readonly #cost: PasswordCost;

	constructor(ofNewHashes: PasswordCost = cost) {
		this.#cost = ofNewHashes;
	}

	/** `scrypt$N$r$p$salt$hash`, the last two in base64url. */
	async hash(password: string): Promise<string> {
		const salt = randomBytes(16);
		const hash = await derived(password, salt, this.#cost);
		const { N, r, p } = this.#cost;
		return `scrypt$${N}$${r}$${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
	}

	/** Without a hash it does the same work, so that the time reveals nothing. */
	async matches(password: string, hash: string | null): Promise<boolean> {
		const [, n, r, p, salt = '', expected = ''] = stored.exec(hash ?? '') ?? [];
		if (n === undefined) {
			await derived(password, nobodysSalt, this.#cost);
			return false;
		}
		const found = await derived(password, Buffer.from(salt, 'base64url'), { N: Number(n), r: Number(r), p: Number(p) });
		return timingSafeEqual(found, Buffer.from(expected, 'base64url'));
	}
}

const nobodysSalt = Buffer.alloc(16);

/** Runs outside the event loop. Characters that look the same count as the same (NIST SP 800-63B §5.1.1.2). */
function derived(password: string, salt: Buffer, options: PasswordCost): Promise<Buffer> {
	const withRoom: ScryptOptions = { ...options, maxmem: 256 * options.N * options.r };
	return new Promise((resolve, reject) => {
		scrypt(password.normalize('NFKC'), salt, hashBytes, withRoom, (error, key) => (error ? reject(error) : resolve(key)));
	});
}

/** NIST SP 800-63B asks for eight at least. No site is served by less. */
const charactersMin = 12;
/** A longer text is no password that a person has; hashing it would only cost time. */
const charactersMax = 256;
/** Fewer are a pattern such as abababababab. */
const distinctMin = 5;

/** The most common passwords among those that are long enough. */
const commonest: ReadonlySet<string> = new Set(
	`123456789012 1234567890123 12345678901234 123456123456 012345678910 987654321098 123123123123 112233445566 1q2w3e4r5t6y
	q1w2e3r4t5y6 1qaz2wsx3edc zaq12wsxcde3 qwertyuiop12 qwertyuiop123 qwerty123456 qwerty1234567 qwertyqwerty qwertyuiopas asdfghjkl123
	abcdefghijkl abcdefghijklm abc123abc123 abcd12345678 abc123456789 a1b2c3d4e5f6 password1234 password12345 password123456
	passwordpassword password123password passw0rd1234 p@ssw0rd1234 p@ssword1234 passwort1234 welcome12345 welcome123456 welcome@1234
	letmein12345 letmeinplease changeme1234 changeme12345 changemenow1 changeitnow12 iloveyou1234 iloveyou12345 administrator administrator1
	administrator123 admin1234567 admin12345678 adminadminadmin root12345678 secretsecret supersecret123 trustno1trustno1 sunshine1234
	princess1234 football1234 baseball1234 superman1234 hospital1234 radiology1234 radiology123 tributary123 tributary1234
	correcthorsebatterystaple onetwothreefour thequickbrownfox nevergonnagiveyouup`.split(/\s+/),
);

/** Returns why a password is not acceptable, or undefined if it is. */
export function passwordFault(password: string, email: string): string | undefined {
	const characters = [...password.normalize('NFKC')];
	const lower = password.normalize('NFKC').toLowerCase();
	if (characters.length < charactersMin) return `a password has at least ${charactersMin} characters`;
	if (characters.length > charactersMax) return `a password has at most ${charactersMax} characters`;
	if (new Set(characters).size < distinctMin) return `a password has at least ${distinctMin} different characters`;
	if (lower === email.toLowerCase() || lower === email.toLowerCase().split('@')[0]) return 'the password must not be the e-mail address';
	if (commonest.has(lower)) return 'the password is too common';
	return undefined;
}
