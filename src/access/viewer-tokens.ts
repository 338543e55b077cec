import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { readSettings } from '#record/settings/settings.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { readCursorKey } from '#storage/statements/administrative/read-access.ts';
import { beginViewing, readViewing } from '#storage/statements/administrative/viewer-tokens.ts';
import type { KeyGrant } from './directory.ts';
import { digestOfToken } from './sessions.ts';

/** Lets its bearer read one study. */
export interface ViewingGrant extends KeyGrant {
	onlyStudy: string;
}

export interface Viewing {
	siteId: string;
	studyUid: string;
	/** The person who looks, as the audit trail names them. */
	actor: string;
	msMax: number;
}

const form = /^tv_[\w-]{43}$/;

/** A viewer asks for hundreds of frames, so an answer of the database holds for this time. A person who is disabled can look on for no longer. */
const heldMs = 5000;
const heldMax = 1000;

type Asked = Pick<ConnectionPool, 'rows' | 'run'>;

const halfBytes = 16;

/** Half of a token is chance, and the other half proves that a node of this network made it: nobody else gets the database to be asked. */
function proofOf(key: Buffer, chance: Buffer): Buffer {
	return createHmac('sha256', key).update('viewer ').update(chance).digest().subarray(0, halfBytes);
}

function isGenuine(key: Buffer, token: string): boolean {
	const bytes = Buffer.from(token.slice('tv_'.length), 'base64url');
	return timingSafeEqual(bytes.subarray(halfBytes), proofOf(key, bytes.subarray(0, halfBytes)));
}

/** The key that all nodes share. @throws Failure `unavailable` while the database does not answer */
async function keyOf(database: Asked): Promise<Buffer> {
	const [row] = await database.rows<{ cursor_key: Buffer }>(readCursorKey, []);
	if (row === undefined) throw new Error('the database has no key of the network');
	return row.cursor_key;
}

/** Adds a token for one study. Returns it with the FHIR instant at which it expires; the database has its digest only. */
export async function beginToView(database: Asked, viewing: Viewing): Promise<{ token: string; expiresAt: string }> {
	const chance = randomBytes(halfBytes);
	const token = `tv_${Buffer.concat([chance, proofOf(await keyOf(database), chance)]).toString('base64url')}`;
	const { siteId, studyUid, actor, msMax } = viewing;
	const [row] = await database.run(beginViewing, [digestOfToken(token), siteId, studyUid, actor, msMax]);
	return { token, expiresAt: row?.[0] ?? '' };
}

/** Knows the tokens by which other viewers read single studies. */
export class ViewerTokens {
	readonly #database: Asked;
	#key: Buffer | undefined;
	readonly #clock: Clock;
	readonly #held = new Map<string, { untilMs: number; grant: ViewingGrant | undefined }>();

	constructor(database: Asked, clock: Clock) {
		this.#database = database;
		this.#clock = clock;
	}

	/** Tells whether the text looks like such a token, and not like one of an issuer. */
	static isForm(token: string): boolean {
		return form.test(token);
	}

	/**
	 * Returns undefined for a token that is unknown or over, and for one that no node made.
	 * @throws Failure `unavailable` while the database does not answer
	 */
	async grantOf(token: string): Promise<ViewingGrant | undefined> {
		this.#key ??= await keyOf(this.#database);
		if (!isGenuine(this.#key, token)) return undefined;
		const digest = digestOfToken(token);
		const name = digest.toString('base64');
		const nowMs = this.#clock.nowMs();
		const held = this.#held.get(name);
		if (held !== undefined && held.untilMs > nowMs) return held.grant;
		const [row] = await this.#database.run(readViewing, [digest]);
		const grant = row === undefined ? undefined : grantOf(row);
		// Forgetting them only means that they are read again.
		if (this.#held.size >= heldMax) this.#held.clear();
		this.#held.set(name, { untilMs: nowMs + heldMs, grant });
		return grant;
	}
}

function grantOf([siteId, siteSlug, settings, onlyStudy, actor]: readonly (string | null)[]): ViewingGrant {
	return {
		keyId: `viewer:${actor ?? ''}`,
		siteId: siteId ?? '',
		siteSlug: siteSlug ?? '',
		settings: readSettings(JSON.parse(settings ?? '{}')),
		onlyStudy: onlyStudy ?? '',
	};
}
