import { type AuditedChange, note, type OperationContext } from '../context.ts';

/** A look that is repeated within this time is not recorded again. */
interface Pace {
	everyMs: number;
	/** A look from another address is another look. */
	bySource: boolean;
}

/** A viewer asks for each frame separately. */
const eachMinute: Pace = { everyMs: 60_000, bySource: true };
/** A person who looks through a study asks for many pictures. */
export const eachHour: Pace = { everyMs: 3_600_000, bySource: false };

/** Forgetting what was written only writes it once more. */
const notedMax = 10_000;

const noted = new Map<string, { atMs: number; written: Promise<void> }>();

/** Records that somebody looked at something. Looks that come meanwhile wait until the event is written; if it fails, the next one tries again. */
export function noteOnce(context: OperationContext, audited: AuditedChange, { everyMs, bySource }: Pace = eachMinute): Promise<void> {
	const key = [audited.siteId, context.actor.name, bySource ? context.source : '', audited.action, audited.subject].join('|');
	const atMs = context.nowMs();
	const known = noted.get(key);
	if (known !== undefined && atMs - known.atMs < everyMs) return known.written;
	if (noted.size >= notedMax) noted.clear();
	const written = note(context, audited).catch((error: unknown) => {
		if (noted.get(key)?.atMs === atMs) noted.delete(key);
		throw error;
	});
	noted.set(key, { atMs, written });
	return written;
}
