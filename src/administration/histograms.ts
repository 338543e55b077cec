import { z } from 'zod';
import { rowIdOf } from '#record/row-id.ts';
import { auditHistogram, messageHistogram, studyHistogram, unmatchedHistogram } from '#storage/statements/administrative/histograms.ts';
import type { TrailPart } from '#storage/statements/administrative/list-audit.ts';
import { firstIdOf } from '#storage/statements/administrative/search-messages.ts';
import { actorsAlike } from './alike.ts';
import { listAssociationsInput } from './associations.ts';
import { type AssociationFilters, listAuditInput, trailPartOf } from './audit.ts';
import { AdministrationError, type OperationContext } from './context.ts';
import { messageFilters, searchMessagesInput } from './messages.ts';
import { instant, ofSite, time } from './schemas.ts';
import { visibleSiteIds } from './visible-sites.ts';

const span = {
	since: time.optional().describe('by default, a day before the end'),
	until: time.optional().describe('by default, now'),
};

export const messageHistogramInput = z.strictObject({ ...searchMessagesInput.omit({ before: true, limit: true }).shape, ...span });
export const auditHistogramInput = z.strictObject({ ...listAuditInput.omit({ before: true, limit: true, study: true }).shape, ...span });
export const associationHistogramInput = z.strictObject({ ...listAssociationsInput.omit({ before: true, limit: true }).shape, ...span });
export const siteHistogramInput = z.strictObject({ ...ofSite, ...span });
export const histogramInput = z.strictObject(span);

export const histogram = z.strictObject({
	since: instant,
	until: instant,
	part_seconds: z.int(),
	parts: z.array(
		z.strictObject({
			at: instant,
			count: z.int(),
			failed: z.int().describe('those of them that were refused or failed'),
		}),
	),
	total: z.int(),
	more: z.boolean().describe('a part has more than were counted, which are 10,000 of a site'),
});
type Histogram = z.output<typeof histogram>;

const partsMax = 60;
const [minute, hour, day] = [60, 3600, 86_400];
const partSeconds = [
	1,
	5,
	10,
	30,
	minute,
	5 * minute,
	10 * minute,
	30 * minute,
	hour,
	3 * hour,
	6 * hour,
	12 * hour,
	day,
	7 * day,
	30 * day,
	365 * day,
];

/** It is looked at while a list is; the list does without it. */
const withinMs = 5000;

interface Parts {
	untilMs: number;
	seconds: number;
	starts: readonly number[];
}

function partsOf({ nowMs }: OperationContext, { since, until }: { since?: string | undefined; until?: string | undefined }): Parts {
	const untilMs = until === undefined ? nowMs() : Date.parse(until);
	const sinceMs = since === undefined ? untilMs - day * 1000 : Date.parse(since);
	if (sinceMs >= untilMs) throw new AdministrationError('it is not after since', 'form', 'until');
	const seconds = partSeconds.find((each) => (untilMs - sinceMs) / 1000 / each <= partsMax) ?? 365 * day;
	const startMs = Math.floor(sinceMs / 1000 / seconds) * seconds * 1000;
	const count = Math.ceil((untilMs - startMs) / 1000 / seconds);
	if (count > partsMax * 10) throw new AdministrationError('it is too long ago', 'form', 'since');
	return { untilMs, seconds, starts: Array.from({ length: count }, (_, index) => startMs + index * seconds * 1000) };
}

interface PartRow {
	part: number;
	count: number;
	failed: number;
	more: boolean;
}

async function counted(
	{ database, limits }: OperationContext,
	parts: Parts,
	{ text, values }: { text: string; values: unknown[] },
): Promise<Histogram> {
	return histogramOf(parts, await database.search<PartRow>({ text }, values, Math.min(withinMs, limits.readMsMax)));
}

function histogramOf({ untilMs, seconds, starts }: Parts, rows: readonly PartRow[]): Histogram {
	const byPart = new Map(rows.map((row) => [row.part, row]));
	const parts = starts.map((startMs, index) => {
		const { count = 0, failed = 0 } = byPart.get(index + 1) ?? {};
		return { at: new Date(startMs).toISOString(), count, failed };
	});
	return {
		since: new Date(starts[0] ?? untilMs).toISOString(),
		until: new Date(untilMs).toISOString(),
		part_seconds: seconds,
		parts,
		total: parts.reduce((sum, { count }) => sum + count, 0),
		more: rows.some(({ more }) => more),
	};
}

const lowsOf = ({ starts }: Parts) => starts.map(firstIdOf);
const highsOf = ({ starts, seconds }: Parts) => starts.map((startMs) => firstIdOf(startMs + seconds * 1000));

export async function messagesOverTime(context: OperationContext, input: z.output<typeof messageHistogramInput>): Promise<Histogram> {
	const parts = partsOf(context, input);
	const filters = await messageFilters(context, { ...input, since: undefined, until: undefined, limit: 1 });
	if (filters === undefined) return histogramOf(parts, []);
	return counted(context, parts, messageHistogram(filters, lowsOf(parts), highsOf(parts)));
}

type AuditSpan = Omit<z.output<typeof auditHistogramInput>, 'site' | 'changes'>;

export function auditOverTime(context: OperationContext, asked: Omit<z.output<typeof auditHistogramInput>, 'site'>): Promise<Histogram> {
	return trailOverTime(context, { ...asked, part: trailPartOf(asked) });
}

async function trailOverTime(
	context: OperationContext,
	{ actor, action, patient, part, association, ...span }: AuditSpan & { part: TrailPart; association?: AssociationFilters },
): Promise<Histogram> {
	const parts = partsOf(context, span);
	const siteIds = await visibleSiteIds(context);
	const acted = actor === undefined ? null : [...new Set((await actorsAlike(context, siteIds, actor)).actors)];
	const named = [
		acted,
		action ?? null,
		patient === undefined ? null : rowIdOf(patient),
		association?.ae || null,
		association?.outcome ?? null,
	];
	return counted(context, parts, { ...auditHistogram(part), values: [lowsOf(parts), highsOf(parts), siteIds, ...named] });
}

export function associationsOverTime(
	context: OperationContext,
	{ since, until, ae, outcome }: z.output<typeof associationHistogramInput>,
): Promise<Histogram> {
	return trailOverTime(context, { since, until, part: 'associations', association: { ae, outcome } });
}

export async function studiesOverTime(context: OperationContext, input: z.output<typeof siteHistogramInput>): Promise<Histogram> {
	const parts = partsOf(context, input);
	const moments = (from: number) => parts.starts.map((startMs) => new Date(startMs + from).toISOString());
	return counted(context, parts, { ...studyHistogram, values: [moments(0), moments(parts.seconds * 1000), await visibleSiteIds(context)] });
}

export async function unmatchedOverTime(context: OperationContext, input: z.output<typeof histogramInput>): Promise<Histogram> {
	const parts = partsOf(context, input);
	return counted(context, parts, { ...unmatchedHistogram, values: [lowsOf(parts), highsOf(parts)] });
}
