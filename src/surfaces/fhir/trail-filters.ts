import { dateRange } from '#core/date-range.ts';
import { Failure } from '#core/failure.ts';
import { isUuid } from '#core/id.ts';
import { type ActionCode, verbsOfAction } from '#fhir/audit-event.ts';
import { isoInstant } from '#fhir/date.ts';
import { alternativesOf } from '#fhir/search/escape.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { TrailFilters } from '#storage/statements/administrative/site-audit.ts';

/** The parameters that find events of the trail. Events have no values of others. */
export const trailNames = ['_id', 'patient', 'date', 'agent', 'action', 'entity', 'address', 'subtype', 'source'] as const;

/**
 * Reads the parameters that find events of the trail. Values between commas are alternatives (FHIR R4 §3.1.1.3).
 * @returns `none` where no event has such values
 * @throws Failure `invalid` for a date that is none, and for a value of commas alone
 */
export function trailFilters(parameters: URLSearchParams): Omit<TrailFilters, 'count' | 'after' | 'oldestFirst'> | 'none' {
	const listed = (name: string) => {
		const values = parameters.getAll(name).flatMap((value) => alternativesOf(name, value));
		return values.length === 0 ? undefined : values;
	};
	const ids = listed('_id')?.filter(isUuid);
	if (ids?.length === 0) return 'none';
	// Whatever the trail has was observed by this service.
	if (listed('source') !== undefined) return 'none';
	const times = timesOf(parameters.getAll('date'));
	if (times === 'never') return 'none';
	// Tokens are compared without their systems.
	const tokens = (name: string) => listed(name)?.map((value) => value.replace(/^.*\|/, ''));
	return {
		ids,
		patients: listed('patient')?.map((value) => rowIdOf(value.replace(/^.*Patient\//, ''))),
		actors: tokens('agent'),
		subjects: listed('entity')?.map((value) => value.replace(/^.*\/([A-Z][A-Za-z]+\/[^/]+)$/, '$1')),
		sources: listed('address'),
		actions: tokens('subtype')?.map((code) => (code.includes('.') ? code : `fhir.${code}`)),
		...verbsOf(tokens('action')),
		...times,
	};
}

function verbsOf(codes: readonly string[] | undefined): Pick<TrailFilters, 'verbs'> {
	if (codes === undefined) return {};
	const all = Object.entries(verbsOfAction);
	const of = (isMeant: (code: string) => boolean) => all.flatMap(([code, verbs]) => (isMeant(code) ? verbs : []));
	const executes: ActionCode = 'E';
	// An action that is none of the others executes something. Any further code is that of no event.
	if (codes.includes(executes)) return { verbs: { not: true, of: of((code) => !codes.includes(code)) } };
	return { verbs: { not: false, of: of((code) => codes.includes(code)) } };
}

/** A time from its start, inclusive, to its end, exclusive. */
type Span = readonly [startMs: number, endMs: number];

/** Repeated dates must all hold. Each is a list of alternatives. */
function timesOf(dates: readonly string[]): Pick<TrailFilters, 'since' | 'before' | 'spans'> | 'never' {
	const always: Span = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
	let spans: Span[] = [always];
	for (const date of dates) {
		const given = alternativesOf('date', date).map(spanOf);
		if (given.length === 0) continue;
		spans = spans.flatMap((span) => given.map((other): Span => [Math.max(span[0], other[0]), Math.min(span[1], other[1])]));
		spans = united(spans.filter(([startMs, endMs]) => startMs < endMs));
	}
	const [first] = spans;
	const last = spans.at(-1);
	if (first === undefined || last === undefined) return 'never';
	const instant = (ms: number) => (Number.isFinite(ms) ? isoInstant(ms) : undefined);
	const times = { since: instant(first[0]), before: instant(last[1]) };
	if (spans.length === 1) return times;
	const texts = spans.map(([startMs, endMs]): [string, string] => [instant(startMs) ?? '-infinity', instant(endMs) ?? 'infinity']);
	return { ...times, spans: texts };
}

/** Joins the spans that overlap. What remains is in order. */
function united(spans: readonly Span[]): Span[] {
	const joined: Span[] = [];
	for (const span of [...spans].sort((one, other) => one[0] - other[0])) {
		const last = joined.at(-1);
		if (last === undefined || span[0] > last[1]) joined.push(span);
		else joined[joined.length - 1] = [last[0], Math.max(last[1], span[1])];
	}
	return joined;
}

function spanOf(date: string): Span {
	const [, prefix = 'eq', text = ''] = /^(eq|ge|gt|le|lt|sa|eb)?(.*)$/.exec(date) ?? [];
	const range = dateRange(text.replace(' ', '+'));
	if (range === undefined) throw invalidValue('date', 'is a date or an instant, with eq, ge, gt, le, lt, sa or eb before it');
	const { startMs, endMs } = range;
	if (prefix === 'ge') return [startMs, Number.POSITIVE_INFINITY];
	if (prefix === 'gt' || prefix === 'sa') return [endMs, Number.POSITIVE_INFINITY];
	if (prefix === 'le') return [Number.NEGATIVE_INFINITY, endMs];
	if (prefix === 'lt' || prefix === 'eb') return [Number.NEGATIVE_INFINITY, startMs];
	return [startMs, endMs];
}

export function invalidValue(name: string, fault: string): Failure {
	return new Failure('invalid', `${name} ${fault}`, { location: { expression: name } });
}
