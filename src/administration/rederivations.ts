import { z } from 'zod';
import { silentLog } from '#core/log.ts';
import { hostTimeZone } from '#core/time-zone.ts';
import type { RederivationZone } from '#record/rederivation.ts';
import { runningRun } from '#storage/statements/administrative/replay-runs.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { replayRunRecord, showReplay } from './failures.ts';
import { ReplayRuns } from './replay-runs.ts';
import type { settingsInForce } from './settings.ts';
import { showSite, siteBySlug } from './sites.ts';

/** The members by which an operation that sets a time zone reads the stored times anew. */
export const rederiveInputs = {
	rederive: z
		.boolean()
		.default(false)
		.describe('reads the local times of stored messages and studies anew by the zone that holds then, in the background'),
	preview: z.boolean().default(false).describe('with rederive: sets nothing, and counts what would change'),
};
type Asked = z.output<z.ZodObject<typeof rederiveInputs>>;

/** The run that an operation began, on what it shows. */
export const rederivationRecord = {
	rederivation: replayRunRecord.optional().describe('the run that reads the stored times anew, or counts what it would change'),
};

/** A site or sender whose time zone is set. */
interface Holder<Shown> {
	of: 'site' | 'client' | 'key';
	subject: string;
	/** The slug of the site. */
	site: string;
	/** The zone that the input names; empty to remove it, undefined to leave it. */
	timeZone: string | undefined;
	set(): Promise<Shown>;
	show(): Promise<Shown>;
}

interface ShownHolder {
	settings: z.infer<typeof settingsInForce>;
}

type Rederived<Shown> = Shown & { rederivation?: z.output<typeof replayRunRecord> };

/**
 * Sets a site or sender, and begins to read its stored times anew where that is asked for. Over the API the run continues behind the
 * answer; the command line, which nothing outlives, waits for it.
 * @throws AdministrationError while another run of the site is under way; then nothing is set
 */
export async function setAndRederive<Shown extends ShownHolder>(
	context: OperationContext,
	{ rederive, preview }: Asked,
	holder: Holder<Shown>,
): Promise<Rederived<Shown>> {
	if (preview && !rederive) throw new AdministrationError('a preview is one of --rederive', 'form', 'preview');
	if (!rederive) return holder.set();
	const { id: siteId } = await siteBySlug(context.em.fork(), holder.site);
	const running = await context.database.rows(runningRun, [siteId]);
	if (running.length > 0) {
		throw new AdministrationError('a replay of this site is running; wait until it ends, or cancel it', 'conflict', 'rederive');
	}
	const shown = await (preview ? holder.show() : holder.set());
	const zone = preview ? await zoneThen(context, holder, shown) : zoneOf(shown);
	const task = { zone, of: holder.of, subject: holder.subject, isPreview: preview };
	const here = context.replayRuns === undefined ? new ReplayRuns(silentLog) : undefined;
	const id = await (context.replayRuns ?? here)?.start(context, { kind: 'rederivation', siteId, task });
	if (preview) await note(context, { action: `${holder.of}.rederive-preview`, subject: holder.subject, siteId });
	await here?.settled();
	if (id === undefined) throw new Error('nothing carries out the run');
	return { ...shown, rederivation: await showReplay(context, id) };
}

function zoneOf({ settings }: ShownHolder): RederivationZone {
	const { value, from } = settings['time_zone'] ?? { value: hostTimeZone(), from: 'host' };
	return { name: String(value), isAssumed: from === 'host' };
}

/** The zone that would hold after a change. */
async function zoneThen<Shown extends ShownHolder>(
	context: OperationContext,
	{ of, site, timeZone }: Holder<Shown>,
	shown: Shown,
): Promise<RederivationZone> {
	if (timeZone === undefined) return zoneOf(shown);
	if (timeZone !== '') return { name: timeZone, isAssumed: false };
	return of === 'site' ? { name: hostTimeZone(), isAssumed: true } : zoneOf(await showSite(context, site));
}
