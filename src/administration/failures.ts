import { z } from 'zod';
import type { DeliveryKind } from '#record/delivery.ts';
import { listFailures as listStatement, openMessages } from '#storage/statements/administrative/failures.ts';
import { dismissRun, finishRun, listRuns, showRun } from '#storage/statements/administrative/replay-runs.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import type { RederivationTask, RunProgress } from './rederivation-task.ts';
import { replayableKinds } from './replay.ts';
import { instant, page, time } from './schemas.ts';
import { siteBySlug } from './sites.ts';

export const listFailuresInput = z.strictObject({ site: z.string().optional(), since: time.optional() });

export const failureRecord = z.strictObject({
	id: z.string().describe('the cause, as `replay start` and `messages list` expect it'),
	site: z.string(),
	surface: z.string(),
	message_type: z.string(),
	failure_code: z.string().nullable(),
	failure: z.string().describe('the failure text without the parts that vary between messages: numbers and quoted values'),
	messages: z.number().int(),
	open: z.number().int().describe('messages that have been neither replayed nor sent again, and are not set aside'),
	set_aside: z.number().int().describe('messages that nobody will mend'),
	first_at: instant,
	last_at: instant,
	last_id: z.uuid(),
	open_id: z.uuid().nullable().describe('the newest of the open messages'),
	replayable: z.boolean(),
	looked_back_to: instant.nullable().describe('older messages were not examined'),
});
type FailureRecord = z.output<typeof failureRecord>;

type Row = Omit<FailureRecord, 'first_at' | 'last_at' | 'looked_back_to' | 'replayable'> & {
	kind: DeliveryKind | null;
	first_at: Date;
	last_at: Date;
	looked_back_to: Date | null;
};

/** Lists refused messages by cause: causes with open messages first, then the most recent. */
export async function listFailures(
	context: OperationContext,
	input: Omit<z.output<typeof listFailuresInput>, 'site'>,
): Promise<FailureRecord[]> {
	const { visibleSites, limits, database } = context;
	const values = [visibleSites === 'all' ? null : visibleSites, limits.failuresScannedMax, input.since ?? null];
	const replayable = await replayableKinds();
	return (await database.search<Row>(listStatement, values, limits.readMsMax)).map((row) => ({
		id: row.id,
		site: row.site,
		surface: row.surface,
		message_type: row.message_type,
		failure_code: row.failure_code,
		failure: row.failure,
		messages: row.messages,
		open: row.open,
		set_aside: row.set_aside,
		first_at: row.first_at.toISOString(),
		last_at: row.last_at.toISOString(),
		last_id: row.last_id,
		open_id: row.open_id,
		replayable: replayable.has(row.kind),
		looked_back_to: row.looked_back_to?.toISOString() ?? null,
	}));
}

export const startReplayInput = z.strictObject({ site: z.string(), cause: z.string().regex(/^[0-9a-f]{32}$/), since: time.optional() });

const amounts = z.record(z.string(), z.number().int());

/** A run that reads the times of stored messages anew came to this. */
const rederivedTimes = z.strictObject({
	time_zone: z.string().describe('the zone by which local times are read now'),
	assumed: z.boolean().describe('the zone is that of the host, because nobody has set one'),
	of: z.enum(['site', 'client', 'key']).describe('whose setting it is'),
	subject: z.string().describe('the slug of the site, or the id of the client or key'),
	preview: z.boolean().describe('it counts, and changes nothing'),
	messages: z.number().int().describe('messages whose times are read anew'),
	read_before_by: amounts.describe('these messages by the zone by which they were read before'),
	changed: amounts.describe('resources whose times change, by type'),
	stayed: amounts.describe('resources whose times stay, because something newer, a person or a FHIR client wrote them, by type'),
	own_offset: z.number().int().describe('messages whose times have offsets of their own'),
	bytes_gone: z.number().int().describe('messages whose bytes the log no longer has'),
	unreadable: z.number().int().describe('messages that can no longer be interpreted'),
	studies_stated: z.number().int().describe('studies whose files state their offset, or that an earlier release stored without one'),
});

export const replayRunRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	actor: z.string(),
	kind: z.enum(['replay', 'rederivation']).describe('replay: of the messages of a cause; rederivation: of the times of stored messages'),
	times: rederivedTimes.nullable().describe('of a rederivation: what it came to so far'),
	cause: z.strictObject({ surface: z.string(), message_type: z.string(), cause: z.string() }).nullable(),
	state: z
		.enum(['running', 'done', 'cancelled', 'failed', 'interrupted'])
		.describe('interrupted: ended with its node in a release before 0.3; today another node takes a run up'),
	total: z.number().int().describe('messages of a replay; messages that a rederivation may have to read, 0 while they are not counted'),
	done: z.number().int(),
	accepted: z.number().int(),
	refused: z.number().int(),
	other: z.number().int().describe('messages that were ignored or already known'),
	ignored: z.number().int(),
	known: z.number().int().describe('messages that had been accepted before; runs of release 0.1.0 tell neither of these two'),
	skipped: z.number().int().describe('messages that were no longer open when their turn came'),
	failure: z.string().nullable(),
	started_at: instant,
	finished_at: instant.nullable(),
	dismissed_at: instant.nullable().describe('somebody has put the run away'),
});
type ReplayRunRecord = z.output<typeof replayRunRecord>;

type RunRow = Omit<ReplayRunRecord, 'started_at' | 'finished_at' | 'dismissed_at' | 'times'> & {
	started_at: Date;
	finished_at: Date | null;
	dismissed_at: Date | null;
	site_id?: string;
	task: RederivationTask | null;
	progress: RunProgress | null;
};

export function runRecord({ site_id: _siteId, task, progress, ...row }: RunRow): ReplayRunRecord {
	const times = task === null || progress === null ? null : timesOf(task, progress);
	const finished = row.finished_at?.toISOString() ?? null;
	const dismissed = row.dismissed_at?.toISOString() ?? null;
	return { ...row, times, started_at: row.started_at.toISOString(), finished_at: finished, dismissed_at: dismissed };
}

function timesOf({ zone, of, subject, isPreview }: RederivationTask, progress: RunProgress): z.output<typeof rederivedTimes> {
	const { zones, changed = {}, stayed = {}, ownOffset, bytesGone, unreadable, studiesStated } = progress;
	return {
		...{ time_zone: zone.name, assumed: zone.isAssumed, of, subject, preview: isPreview },
		...{ messages: Object.values(zones).reduce((sum, count) => sum + count, 0), read_before_by: { ...zones } },
		...{ changed: { ...changed }, stayed: { ...stayed }, own_offset: ownOffset, bytes_gone: bytesGone, unreadable },
		studies_stated: studiesStated,
	};
}

/** Replays the open messages of a cause in the background, one at a time, oldest first. */
export async function startReplay(context: OperationContext, input: z.output<typeof startReplayInput>): Promise<ReplayRunRecord> {
	const { database, limits, replayRuns } = context;
	if (replayRuns === undefined) throw new AdministrationError('only a running service can replay the messages of a cause');
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const values = [siteId, limits.failuresScannedMax, input.since ?? null, input.cause, limits.replayMessagesMax];
	const open = await database.search<Pick<Row, 'id' | 'kind' | 'surface' | 'message_type'>>(openMessages, values, limits.readMsMax);
	const [first] = open;
	if (first === undefined) throw new AdministrationError('this cause has no message to replay');
	if (!(await replayableKinds()).has(first.kind))
		throw new AdministrationError(`messages of type ${first.message_type} cannot be replayed; their sender has to send them again`);
	const cause = { surface: first.surface, message_type: first.message_type, cause: input.cause };
	const id = await replayRuns.start(context, { kind: 'replay', siteId, cause, messageIds: open.map((message) => message.id) });
	await note(context, { action: 'replay.start', subject: id, siteId, after: { ...cause, messages: open.length } });
	return showReplay(context, id);
}

export async function runRow({ database }: OperationContext, id: string): Promise<RunRow & { site_id: string }> {
	const [row] = z.uuid().safeParse(id).success ? await database.rows<RunRow & { site_id: string }>(showRun, [id]) : [];
	if (row === undefined) throw new AdministrationError(`there is no replay '${id}'`, 'not-found', 'id');
	return row;
}

export async function showReplay(context: OperationContext, id: string): Promise<ReplayRunRecord> {
	return runRecord(await runRow(context, id));
}

export const listReplaysInput = z.strictObject({
	site: z.string().optional(),
	dismissed: z.boolean().default(false).describe('also those that somebody has put away'),
	...page(20),
});

export async function listReplays(
	{ database, visibleSites }: OperationContext,
	{ before, limit, dismissed = false }: Omit<z.output<typeof listReplaysInput>, 'site' | 'dismissed'> & { dismissed?: boolean },
): Promise<ReplayRunRecord[]> {
	const rows = await database.rows<RunRow>(listRuns, [visibleSites === 'all' ? null : visibleSites, before ?? null, limit, dismissed]);
	return rows.map(runRecord);
}

/** Messages that were already replayed stay replayed; the others stay open. A replay that has ended does not change. */
export async function cancelReplay(context: OperationContext, id: string, found?: RunRow & { site_id: string }): Promise<ReplayRunRecord> {
	const { site_id: siteId, state } = found ?? (await runRow(context, id));
	await context.database.rows(finishRun, [siteId, id, 'cancelled', null, null]);
	const run = await showReplay(context, id);
	await note(context, { action: 'replay.cancel', subject: id, siteId, before: { state }, after: { state: run.state } });
	return run;
}

/** Puts away a run that has ended, for everybody. `replay list --dismissed` still shows it. */
export async function dismissReplay(context: OperationContext, id: string, found?: RunRow & { site_id: string }): Promise<ReplayRunRecord> {
	const { site_id: siteId, state } = found ?? (await runRow(context, id));
	if (state === 'running') throw new AdministrationError('the run is under way; cancel it first', 'conflict');
	await context.database.rows(dismissRun, [siteId, id]);
	await note(context, { action: 'replay.dismiss', subject: id, siteId });
	return showReplay(context, id);
}
