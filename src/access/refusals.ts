import { holderOf } from '#core/address.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { Rounds } from '#core/rounds.ts';
import { systemTimers, type Timers } from '#core/timers.ts';
import type { Audit } from './audit.ts';
import type { AccessLimits } from './limits.ts';

/** A caller who was turned away. */
export interface Refusal {
	/** The action of the audit event: `key.refused`, `mllp.refused`. */
	action: string;
	reason: string;
	/** The address of the caller. */
	source: string;
	/** The name that the caller gave, as far as it may be shown: the prefix of a key, an AE title. */
	named?: string | undefined;
	/** False when only the log tells of it, because nobody's access was at stake. */
	isAudited?: boolean;
}

export interface Refusals {
	/** Returns at once. The log and the audit trail tell of it within a second, and of its repetitions once a minute. */
	note(refusal: Refusal): void;
	close(): void;
}

export interface RefusalsOptions {
	audit: Pick<Audit, 'recordOf'>;
	limits: Pick<AccessLimits, 'auditRefusalsMax'>;
	log: Log;
	clock: Clock;
	/** The system's unless they are given. */
	timers?: Timers;
}

interface Told {
	refusal: Refusal;
	/** The number that nobody was told of yet. */
	times: number;
	names: Set<string>;
	toldAtMs: number | undefined;
}

const lookMs = 500;
/** Repetitions are told together this often. */
const againMs = 60_000;
/** The log names this many names of a caller that tries more. */
const namesMax = 5;

/**
 * Tells of callers who were turned away, in the log and in the audit trail. Whoever is refused can come as often as they like, so the same
 * refusal of the same address is told once a minute with its count, and of more than AUDIT_REFUSALS_MAX in a minute there is one line for all.
 */
export function openRefusals({ audit, limits, log, clock, timers = systemTimers }: RefusalsOptions): Refusals {
	const held = new Map<string, Told>();
	const further: Told = newly({ action: 'callers.refused', reason: 'further callers', source: '' });

	function tell(told: Told, nowMs: number): void {
		const { refusal, times, names } = told;
		const { action, reason, source, isAudited = true } = refusal;
		told.toldAtMs = nowMs;
		told.times = 0;
		told.names = new Set();
		const named = names.size === 0 ? {} : { named: [...names].join(', ') };
		log.warn({ action, address: source, reason, times, ...named }, 'refused');
		if (isAudited) audit.recordOf({ siteId: null, actor: 'sender', action, subject: reason, source, detail: { times, ...named } });
	}

	function isDue({ toldAtMs }: Told, nowMs: number): boolean {
		return toldAtMs === undefined || nowMs - toldAtMs >= againMs;
	}

	/** Returns false where nobody is remembered. */
	function look(): boolean {
		const nowMs = clock.nowMs();
		for (const [key, told] of held) {
			if (!isDue(told, nowMs)) continue;
			if (told.times > 0) tell(told, nowMs);
			else held.delete(key);
		}
		if (further.times > 0 && isDue(further, nowMs)) tell(further, nowMs);
		return held.size > 0 || further.times > 0;
	}

	const looks = new Rounds(lookMs, look, timers);
	return {
		note(refusal) {
			looks.wake();
			const key = `${refusal.action}|${refusal.reason}|${holderOf(refusal.source)}`;
			let told = held.get(key);
			if (told === undefined && held.size < limits.auditRefusalsMax) {
				told = newly(refusal);
				held.set(key, told);
			}
			told ??= further;
			told.times++;
			if (refusal.named !== undefined && told !== further && told.names.size < namesMax) told.names.add(refusal.named);
		},
		close() {
			looks.stop();
			const nowMs = clock.nowMs();
			for (const told of [...held.values(), further]) if (told.times > 0) tell(told, nowMs);
		},
	};
}

function newly(refusal: Refusal): Told {
	return { refusal, times: 0, names: new Set(), toldAtMs: undefined };
}
