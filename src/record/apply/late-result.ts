import type { Json } from '#core/json.ts';
import type { ApplyContext } from './context.ts';
import { type Row, referenceTo } from './rows.ts';

/** The largest number of flags of one message about results that came late. A person needs no more to look at the message. */
const lateFlagsMax = 50;

/** Flags a statement that does not take the place of the version that is known. The message log keeps it. */
export function flagLate(context: ApplyContext, segment: string, held: unknown, stated: unknown, known: Row): void {
	if (context.flags.length >= lateFlagsMax) return;
	const kept = `${referenceTo(known)}/_history/${known.version}`;
	context.flags.push({
		code: known.resourceType === 'DiagnosticReport' ? 'late-report' : 'late-result',
		text: `${segment} states ${String(stated)} late: ${kept} is ${String(held)} and stays as it is`,
	});
}

const replayed = 'urn:tributary:replay:';

/** Tells whether the known version came with the very message that is replayed. Its replay is read anew, with the settings of now, and is not late. */
export function isReplayOf({ source }: ApplyContext, known: Row): boolean {
	if (!source.startsWith(replayed) || source === replayed) return false;
	return known.source?.split(':').at(-1) === source.slice(replayed.length);
}

export function textOf(value: Json | undefined | unknown): string | undefined {
	return typeof value === 'string' ? value : undefined;
}
