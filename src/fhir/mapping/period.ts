import { endsBeforeStart } from '#core/date-range.ts';
import type { Period } from '../datatypes.ts';

/**
 * A period of what is known of it; undefined when that is nothing. One that would end before it starts is no FHIR period (per-1)
 * and keeps its start.
 */
export function periodOf(start: string | undefined, end: string | undefined): Period | undefined {
	if (start === undefined) return end === undefined ? undefined : { end };
	return end === undefined || endsBeforeStart(start, end) ? { start } : { start, end };
}
