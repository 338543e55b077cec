import { endsBeforeStart } from '#core/date-range.ts';
import type { Period } from '../datatypes.ts';

/**
 * Builds a period; undefined without start and end. If it would end before it starts, it is no FHIR period (per-1) and keeps only its
 * start.
 */
export function periodOf(start: string | undefined, end: string | undefined): Period | undefined {
	if (start === undefined) return end === undefined ? undefined : { end };
	return end === undefined || endsBeforeStart(start, end) ? { start } : { start, end };
}
