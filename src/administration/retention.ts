import { z } from 'zod';
import { keptNames } from '#retention/metrics.ts';
import { daysOf, type KeptSite, policyOf } from '#retention/policy.ts';
import { foresee } from '#retention/preview.ts';
import { keptOf, readKeptSites, runRetention } from '#retention/run.ts';
import { listRuns } from '#storage/statements/administrative/retention-runs.ts';
import { listDeletedStudies } from '#storage/statements/administrative/study-retention.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { instant, ofSite, page } from './schemas.ts';
import { visibleSiteIds } from './visible-sites.ts';

const kept = z
	.enum(keptNames)
	.describe(
		'messages: the message log; history: earlier versions of resources; accepted: what recognises a repeated message; unmatched: unmatched messages; jobs: runs of many messages that have ended; feeds: the figures of feeds; studies: studies with their images',
	);

export const keptPolicy = z.strictObject({
	kept: kept.or(z.literal('audit')),
	site: z.string().nullable().describe('null: what belongs to no site'),
	days: z.int().describe('age at which it goes; 0 is for ever'),
	from: z.enum(['site', 'network']).describe('whether the setting of the site says so, or a variable of the network'),
	held: z.boolean().describe('true while a legal hold of the site keeps all of it'),
	moving: z.boolean().describe('true while the site moves to or from another database, and once it was moved away: nothing of it goes'),
});

export const foreseenRemoval = keptPolicy.extend({
	kept,
	before: instant.nullable().describe('what is older goes with the next run; null: nothing goes'),
	rows: z.int(),
	bytes: z.int().describe('of studies the size of their images; else an estimate of the rows without indexes'),
	oldest: instant.nullable().describe('time of the oldest row that goes, of a study its last change; null: nothing goes'),
	held_studies: z.int().describe('studies whose time is over and that a legal hold keeps'),
});

const removal = z.strictObject({
	kept,
	site: z.string().nullable().describe('null: whole months with rows of all sites, or what belonged to none'),
	month: z.string().nullable().describe('the partition of a month that went whole'),
	rows: z.int(),
});

export const retentionRun = z.strictObject({
	id: z.uuid(),
	asked_by: z.string(),
	state: z.enum(['running', 'done', 'failed', 'interrupted']),
	started_at: instant,
	finished_at: instant.nullable(),
	removed: z.array(removal),
	failure: z.string().nullable(),
});
type RetentionRun = z.infer<typeof retentionRun>;

export const finishedRun = retentionRun.pick({ id: true, removed: true });
export const listRunsInput = z.strictObject(page(20));

export const deletedStudiesInput = z.strictObject({
	...ofSite,
	study: z.string().max(64).optional().describe('Study Instance UID'),
	limit: z.coerce.number().int().min(1).max(1000).default(50),
});
export const deletedStudy = z.strictObject({
	id: z.uuid().describe('id of the ImagingStudy, which FHIR answers with 410'),
	site: z.string(),
	study_uid: z.string(),
	patient_id: z.string().nullable(),
	reason_code: z.string().describe('a code of DICOM PS3.16 CID 7011, as IHE IOCM uses it'),
	reason: z.string(),
	deleted_at: instant,
	deleted_by: z.string(),
	changed_at: instant.describe('the last change of the study'),
	series_count: z.int(),
	instance_count: z.int(),
	bytes: z.int(),
	objects_removed: z.boolean().describe('false while objects are still to be removed from the object store; the next run goes on'),
});

const sitesOf = async (context: OperationContext) => readKeptSites(context.database, await visibleSiteIds(context));

/** Shows for how long each visible site keeps what. */
export async function showRetention(context: OperationContext): Promise<z.infer<typeof keptPolicy>[]> {
	const sites = await sitesOf(context);
	return sites.flatMap((site) => [
		...keptOf(site).map((name) => {
			const { days, from, isHeld, isMoving } = policyOf(name, site, context.limits);
			return { kept: name, site: site.slug, days, from, held: isHeld, moving: isMoving };
		}),
		auditOf(context, site),
	]);
}

/** Months of the audit trail go when the times of all sites are over. It stays where it was recorded, so a move does not keep it. */
function auditOf({ limits }: OperationContext, site: KeptSite) {
	const { days, from } = daysOf(site, 'audit_retention_days', limits.auditKeepDays);
	return { kept: 'audit' as const, site: site.slug, days, from, held: site.holds > 0, moving: false };
}

/** Counts what the next run would remove. */
export async function previewRetention(context: OperationContext): Promise<z.infer<typeof foreseenRemoval>[]> {
	const foreseen = await foresee(context.database, await sitesOf(context), { limits: context.limits, nowMs: context.nowMs() });
	return foreseen.map(({ kept: name, site, days, from, isHeld, isMoving, before, rows, bytes, oldest, held }) => ({
		...{ kept: name, site: site.slug, days, from, held: isHeld, moving: isMoving, before: before?.toISOString() ?? null },
		...{ rows, bytes, oldest: oldest?.toISOString() ?? null, held_studies: held },
	}));
}

/** Carries retention out now, for all sites, and returns when it is done. */
export async function carryRetentionOut(context: OperationContext): Promise<z.infer<typeof finishedRun>> {
	const { database, objects, limits, nowMs, actor, source } = context;
	const means = { database, objects, limits, metrics: undefined, nowMs };
	const order = { by: actor.name, source: source || null, everySeconds: 0, isEnding: () => false };
	const finished = await runRetention(means, order);
	if (finished === undefined) throw new AdministrationError('a run of retention is under way; see retention runs', 'conflict');
	const removed = [...finished.removed];
	await note(context, { action: 'retention.run', subject: finished.id, siteId: null, after: { removed } });
	return { id: finished.id, removed };
}

export async function listRetentionRuns(
	{ database }: OperationContext,
	{ before, limit }: z.infer<typeof listRunsInput>,
): Promise<RetentionRun[]> {
	type Row = Omit<RetentionRun, 'started_at' | 'finished_at'> & { started_at: Date; finished_at: Date | null };
	const rows = await database.rows<Row>(listRuns, [before ?? null, limit]);
	return rows.map((row) => ({
		...row,
		started_at: row.started_at.toISOString(),
		finished_at: row.finished_at?.toISOString() ?? null,
	}));
}

export async function listDeletions(
	context: OperationContext,
	{ study, limit }: Omit<z.infer<typeof deletedStudiesInput>, 'site'>,
): Promise<z.infer<typeof deletedStudy>[]> {
	type Record = z.infer<typeof deletedStudy>;
	type Row = Omit<Record, 'deleted_at' | 'changed_at' | 'bytes'> & { deleted_at: Date; changed_at: Date; bytes: string };
	const rows = await context.database.rows<Row>(listDeletedStudies, [await visibleSiteIds(context), study ?? null, limit]);
	return rows.map((row) => ({
		...row,
		...{ deleted_at: row.deleted_at.toISOString(), changed_at: row.changed_at.toISOString(), bytes: Number(row.bytes) },
	}));
}
