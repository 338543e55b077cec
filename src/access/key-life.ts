import { dayMs } from '#core/date-range.ts';

/** The times at which a key begins and ends. */
export interface KeyLife {
	createdAt: Date;
	/** Null for a key that never ends by itself. */
	expiresAt: Date | null;
	/** Another key follows it, and it stays for an overlap only. */
	isReplaced: boolean;
}

/** A key is refused from the instant at which it expires. */
export function hasEnded({ expiresAt }: KeyLife, nowMs: number): boolean {
	return expiresAt !== null && nowMs >= expiresAt.getTime();
}

/** Rotating a key takes the people of a site some days. Alerts in Prometheus have the same fixed times. */
const noticeMsMax = 14 * dayMs;

/**
 * True in the last quarter of a key's life, from two weeks before its end at the earliest. Nobody is warned of a key that has a successor,
 * nor of one that has ended.
 */
export function endsSoon(life: KeyLife, nowMs: number): boolean {
	const { createdAt, expiresAt, isReplaced } = life;
	if (expiresAt === null || isReplaced || hasEnded(life, nowMs)) return false;
	const noticeMs = Math.min(noticeMsMax, (expiresAt.getTime() - createdAt.getTime()) / 4);
	return nowMs >= expiresAt.getTime() - noticeMs;
}
