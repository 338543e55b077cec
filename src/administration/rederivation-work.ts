import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import type { Flag } from '#record/flag.ts';
import {
	packStep,
	type RederivationProgress,
	type RederivationStep,
	type RederivedMessage,
	type RederivedStudy,
} from '#record/rederivation.ts';
import { noSettings, readSettings } from '#record/settings/settings.ts';
import { insertAuditEvent } from '#storage/statements/administrative/read-access.ts';
import {
	countMessages,
	countMet,
	readMessagesToRederive,
	scanMessages,
	scanStudies,
} from '#storage/statements/administrative/rederivations.ts';
import { finishRun, keepRun } from '#storage/statements/administrative/replay-runs.ts';
import { AdministrationError, auditValues, type RunControl, type RunEnd, type RunWork } from './context.ts';
import type { RederivationTask, RunProgress } from './rederivation-task.ts';
import { type SenderOfImages, sendersOfImages } from './senders-of-images.ts';

/** A step takes so many messages, as long as they have no more bytes than this: a turn of the site stays short. */
const stepMessagesMax = 64;
const stepBytesMax = 4 * 1024 * 1024;
const scannedMessagesMax = 1000;
const stepStudiesMax = 100;
/** A node follows a change of settings within this time; what it read before is stored by then or waits before the steps. */
const followedMs = 1000;
/**
 * Messages that are received this long after the run began are read by the new setting, or by one that was made since. The clocks of nodes
 * differ by less.
 */
const laterMs = 10_000;
/** Messages that were received this long before the run began may be stored after it has passed them. */
const lateMs = 10 * 60_000;

/**
 * Reads the times of stored messages and studies anew, in steps that are deliveries of the site. A step writes its changes and how far the
 * run has come in one transaction, so a run that is taken up goes on behind its last step.
 */
export function rederivationWork(task: RederivationTask, from: RunProgress, startedMs: number): RunWork {
	return (control) => new Rederivation(control, task, from, startedMs).carryOut();
}

type Reached = RederivationStep['reached'];
type Content = Pick<RederivationStep, 'messages' | 'studies' | 'studiesStated'> & { bytes: readonly Uint8Array[] };

const nothing: Content = { messages: [], studies: [], studiesStated: 0, bytes: [] };

interface Scanned {
	id: string;
	bytes: number;
	is_read: boolean;
}

interface LoggedRow {
	id: string;
	kind: RederivedMessage['kind'];
	settings: unknown;
	flags: Flag[] | null;
	changed: string[] | null;
	bytes: Buffer;
	sender_settings: unknown;
}

type StudyRow = Omit<RederivedStudy, 'studyUid' | 'zone' | 'offset'> &
	SenderOfImages & { study_uid: string; zone: string | null; offset: string | null };

class Rederivation {
	readonly #control: RunControl;
	readonly #task: RederivationTask;
	readonly #startedMs: number;
	#progress: RederivationProgress;
	readonly #total: number | null;

	constructor(
		control: RunControl,
		task: RederivationTask,
		{ total, changed: _changed, stayed: _stayed, ...progress }: RunProgress,
		startedMs: number,
	) {
		this.#control = control;
		this.#task = task;
		this.#progress = progress;
		this.#total = total;
		this.#startedMs = startedMs;
	}

	async carryOut(): Promise<RunEnd> {
		const total = this.#total ?? (await this.#count());
		const stopped = (await this.#messages(total, false)) ?? (await this.#messages(total, true)) ?? (await this.#studies(total));
		if (stopped === 'interrupted') return stopped;
		await this.#end(stopped ?? 'done');
		return stopped ?? 'done';
	}

	/** Reads the messages of a phase. Returns how the run ended, if it did. */
	async #messages(total: number | null, isLate: boolean): Promise<RunEnd | undefined> {
		const phase = isLate ? 'late' : 'messages';
		if (this.#progress.phase !== phase) return undefined;
		if (isLate && !(await this.#control.pause(this.#startedMs + followedMs - this.#control.context.nowMs()))) return 'interrupted';
		const until = firstIdOf(this.#startedMs + laterMs);
		for (let { cursor } = this.#progress; ; ) {
			const scanned = await this.#rows<Scanned>(scanMessages, [cursor, ...this.#senders(isLate), scannedMessagesMax, until]);
			const last = scanned?.at(-1);
			if (scanned === undefined) return 'interrupted';
			if (last === undefined) break;
			for (const ids of stepsOf(scanned)) {
				const stopped = await this.#read(ids, total, phase);
				if (stopped !== undefined) return stopped;
			}
			cursor = last.id;
			const stopped = await this.#stopped();
			if (stopped !== undefined) return stopped;
		}
		// Messages that wait in the mailbox of the site are stored before this step, which has none. A preview changes no setting.
		const late: Reached = { phase: 'late', cursor: firstIdOf(this.#startedMs - lateMs) };
		return this.#deliver(nothing, isLate || this.#task.isPreview ? { phase: 'studies', cursor: '' } : late, total);
	}

	/** Delivers messages; those of a step that the service cannot process are delivered in halves. */
	async #read(ids: readonly string[], total: number | null, phase: 'messages' | 'late', isSkipped = false): Promise<RunEnd | undefined> {
		const { context, siteId } = this.#control;
		const rows = await this.#control.persist(() => context.database.rows<LoggedRow>(readMessagesToRederive, [siteId, ids]));
		const [last] = ids.slice(-1);
		if (rows === undefined) return 'interrupted';
		if (last === undefined) return undefined;
		const messages = rows.map((row) => ({ ...messageOf(row), ...(isSkipped && { isSkipped: true as const }) }));
		const content = { ...nothing, messages, bytes: rows.map(({ bytes }) => bytes) };
		const end = await this.#deliver(content, { phase, cursor: last }, total, true);
		if (end !== 'refused') return end;
		if (ids.length === 1) {
			if (isSkipped) throw new AdministrationError('a message could not be counted as unreadable');
			return this.#read(ids, total, phase, true);
		}
		const half = ids.length >> 1;
		return (await this.#read(ids.slice(0, half), total, phase)) ?? (await this.#read(ids.slice(half), total, phase));
	}

	async #studies(total: number | null): Promise<RunEnd | undefined> {
		const { zone, of, subject } = this.#task;
		const isOfSender = await sendersOfImages(this.#control, of, subject);
		for (;;) {
			const rows = await this.#rows<StudyRow>(scanStudies, [this.#progress.cursor, stepStudiesMax]);
			const last = rows?.at(-1);
			if (rows === undefined) return 'interrupted';
			if (last === undefined) return undefined;
			const those = rows.filter(isOfSender);
			const studies = those.flatMap(({ id, study_uid: studyUid, zone: before, offset, started, series }) =>
				before === null || offset === null || before === zone.name ? [] : [{ id, studyUid, zone: before, offset, started, series }],
			);
			const studiesStated = those.filter((row) => row.zone === null).length;
			const stopped = await this.#deliver({ ...nothing, studies, studiesStated }, { phase: 'studies', cursor: last.study_uid }, total);
			if (stopped !== undefined) return stopped;
		}
	}

	/** @throws AdministrationError when the step is refused, unless that may be answered */
	async #deliver(content: Content, reached: Reached, total: number | null): Promise<RunEnd | undefined>;
	async #deliver(content: Content, reached: Reached, total: number | null, mayBeRefused: true): Promise<RunEnd | 'refused' | undefined>;
	async #deliver(
		{ bytes, ...content }: Content,
		reached: Reached,
		total: number | null,
		mayBeRefused = false,
	): Promise<RunEnd | 'refused' | undefined> {
		const stopped = await this.#stopped();
		if (stopped !== undefined) return stopped;
		const { context, siteId, id, persist } = this.#control;
		const { zone, isPreview } = this.#task;
		const before = { ...this.#progress, total };
		const step: RederivationStep = { runId: id, isPreview, zone, before, reached, ...content };
		const reply = await persist(() => {
			const receivedAtMs = context.nowMs();
			return context.deliver({
				...{ id: newId(receivedAtMs), kind: 'rederivation', siteId, clientId: nilId, surface: 'administration' },
				...{ source: context.actor.name, receivedAtMs, settings: noSettings, bytes: packStep(step, bytes) },
			});
		});
		if (reply === undefined) return 'interrupted';
		const { answer } = reply;
		if (answer.kind === 'done') {
			this.#progress = answer.progress;
			return undefined;
		}
		if (!mayBeRefused) throw new AdministrationError(answer.diagnostics);
		return 'refused';
	}

	async #stopped(): Promise<RunEnd | undefined> {
		const { context, siteId, id, attempt, isEnding, persist } = this.#control;
		if (isEnding()) return 'interrupted';
		const kept = await persist(() => context.database.rows(keepRun, [siteId, id, attempt]));
		if (kept === undefined) return 'interrupted';
		return kept.length === 0 ? 'cancelled' : undefined;
	}

	#rows<T>(statement: { text: string }, values: readonly unknown[]): Promise<T[] | undefined> {
		const { context, siteId, persist } = this.#control;
		return persist(() => context.database.rows<T>(statement, [siteId, ...values]));
	}

	#senders(isLate: boolean): unknown[] {
		const { zone, of, subject } = this.#task;
		return [zone.name, of, subject, isLate];
	}

	/** Counting is worth a short while. */
	async #count(): Promise<number | null> {
		const { context, siteId } = this.#control;
		const values = [siteId, nilId, ...this.#senders(false)];
		try {
			const [row] = await context.database.search<{ count: number }>(countMessages, values, context.limits.readMsMax);
			return row?.count ?? null;
		} catch (error) {
			if (error instanceof Failure && error.code === 'invalid') return null;
			throw error;
		}
	}

	/** Records the end, what it came to, and who began it, all at once. */
	async #end(end: RunEnd): Promise<void> {
		const { context, siteId, id, attempt } = this.#control;
		const { of, subject, zone, isPreview } = this.#task;
		await context.database.transaction(async (client) => {
			const { rows } = await client.query<{ progress: RunProgress }>(countMet.text, [siteId, id]);
			const finished = await client.query(finishRun.text, [siteId, id, end, null, attempt]);
			const progress = rows[0]?.progress;
			if (isPreview || progress === undefined || (end === 'done' && finished.rowCount === 0)) return;
			const { zones, ownOffset, bytesGone, unreadable, studiesStated, changed, stayed } = progress;
			const messages = Object.values(zones).reduce((sum, count) => sum + count, 0);
			const before = { messages_by_time_zone: zones };
			const after = {
				...{ run: id, state: end, messages_by_time_zone: { [zone.name]: messages }, changed, stayed },
				...{ own_offset: ownOffset, bytes_gone: bytesGone, unreadable, studies_stated: studiesStated },
			};
			await client.query(insertAuditEvent.text, auditValues(context, { action: `${of}.rederive`, subject, siteId, before, after }));
		});
	}
}

/** Divides the messages that are to be read into steps. */
function stepsOf(scanned: readonly Scanned[]): string[][] {
	const steps: string[][] = [];
	let [step, bytes]: [string[], number] = [[], 0];
	for (const message of scanned) {
		if (!message.is_read) continue;
		if (step.length === stepMessagesMax || (step.length > 0 && bytes + message.bytes > stepBytesMax)) {
			steps.push(step);
			[step, bytes] = [[], 0];
		}
		step.push(message.id);
		bytes += message.bytes;
	}
	return step.length === 0 ? steps : [...steps, step];
}

function messageOf({ id, kind, settings, flags, changed, bytes, sender_settings: senderSettings }: LoggedRow): RederivedMessage {
	return {
		...{ id, kind, flags: flags ?? [], changed: changed ?? [], bytes: bytes.length },
		settings: settings === null ? null : readSettings(settings),
		senderSettings: readSettings(senderSettings),
	};
}

/** The first id of a moment (RFC 9562 §5.7). */
function firstIdOf(ms: number): string {
	const time = Math.max(ms, 0).toString(16).padStart(12, '0');
	return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
