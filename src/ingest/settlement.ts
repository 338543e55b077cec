import { Failure, failureRecord } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import { applyChangeSet } from '#record/apply/apply.ts';
import { type ResourceResult, type Row, referenceTo } from '#record/apply/rows.ts';
import type { WorkingSet } from '#record/apply/working-set.ts';
import type { AnswerOf, DeliveryKind, Outcome, Reply } from '#record/delivery.ts';
import type { Flag } from '#record/flag.ts';
import { AmbiguousNumber } from '#record/identity/ambiguous.ts';
import { recordDoubt } from '#record/identity/doubt.ts';
import { HeldForPerson } from '#record/identity/held.ts';
import type { IndexOutcome } from '#record/instance.ts';
import type { StepReportResult } from '#record/procedure-step.ts';
import { contentCharsetOf } from '#record/settings/content-charset.ts';
import { type AcceptedMessage, type LoggedMessage, senderKey, shortened } from '#storage/message-log.ts';
import type { Effects } from './interpretation.ts';
import { definitionOf } from './kinds/index.ts';
import { changeSetOf, type Prepared, patientsOf } from './prepared.ts';

/** The decision about one message: its reply, and its row in the message log. It is true only after the commit. */
export interface Settled {
	reply: Reply;
	/** Undefined when the message leaves no row in the log. */
	logged: LoggedMessage | undefined;
}

export interface SettlementContext {
	/** Messages accepted before, by sender key; grows with the batch itself. */
	accepted: Map<string, AcceptedMessage[]>;
	set: WorkingSet;
	sequence: bigint;
	lastUpdated: string;
	/** Called for bugs, but not for faults of the message. */
	onBug(error: unknown, message: Prepared): void;
}

/** Decides one message in its turn: answered before, refused, ignored, or applied to the working set. */
export function settle(message: Prepared, context: SettlementContext): Settled {
	const { delivery, interpretation, digest } = message;
	const { answerLog, messageIdName } = definitionOf(delivery.kind);
	const key = senderKey({ siteId: delivery.siteId, clientId: delivery.clientId, controlId: interpretation.controlId });
	const earlier = interpretation.controlId === '' ? [] : (context.accepted.get(key) ?? []);
	const same =
		earlier.find((accepted) => accepted.digest === digest && accepted.acks) ?? earlier.find((accepted) => accepted.digest === digest);
	if (same && delivery.replayOf === undefined) {
		// The log may have been pruned since. Then the same answer is rendered again.
		const answer = same.acks ? answerLog.read(same.acks) : interpretation.answer('accepted', undefined, noEffects);
		const acks = same.acks ?? answerLog.write(answer);
		return settled(message, context, { outcome: 'duplicate', answer, acks, replayOf: same.messageId });
	}
	const flags: Flag[] = [];
	if (earlier.length > 0 && !same && messageIdName !== undefined) {
		flags.push({ code: 'same-control-id', text: `${messageIdName} was used before for a message with other content` });
	}
	const effect: Effect = { flags, changed: [], results: [], stepReports: [], instances: [] };
	const [outcome, failure] = verdictOf(message, context, effect);
	const answer = interpretation.answer(outcome, failure, effect);
	const acks = isLogged(message, outcome) ? answerLog.write(answer) : [];
	if (interpretation.controlId !== '' && (outcome === 'accepted' || outcome === 'ignored') && !same) {
		context.accepted.set(key, [...earlier, { messageId: delivery.id, digest, acks }]);
	}
	return settled(message, context, {
		outcome,
		failure,
		...effect,
		answer,
		acks,
		replayOf: delivery.replayOf ?? effect.stepReports[0]?.repeats ?? null,
	});
}

function isLogged({ delivery, interpretation: { logged } }: Prepared, outcome: Outcome): boolean {
	if (delivery.rehearsal) return false;
	return logged === 'always' || (logged === 'refused' && outcome === 'refused');
}

/** The changes of a message to the working set, and the flags for a person. */
interface Effect {
	flags: Flag[];
	changed: Row[];
	results: ResourceResult[];
	stepReports: StepReportResult[];
	instances: IndexOutcome[];
}

const noEffects: Effects = { results: [], stepReports: [], instances: [] };

function verdictOf(message: Prepared, context: SettlementContext, effect: Effect): [Outcome, Failure | undefined] {
	const { verdict } = message.interpretation;
	if (message.poison) return ['refused', message.poison];
	if (verdict.kind === 'refuse') return ['refused', verdict.failure];
	const changeSet = changeSetOf(message);
	if (changeSet === undefined) return ['ignored', undefined];
	effect.flags.push(...changeSet.flags);
	const before = effect.flags.length;
	const { set, lastUpdated } = context;
	const applying = { set, newId, message: message.delivery, source: sourceOf(message), lastUpdated, ...effect };
	try {
		applyChangeSet(applying, changeSet);
		return [effect.stepReports.some(({ repeats }) => repeats !== undefined) ? 'duplicate' : 'accepted', undefined];
	} catch (error) {
		effect.flags.length = before;
		effect.changed.length = 0;
		effect.results.length = 0;
		effect.stepReports.length = 0;
		effect.instances.length = 0;
		if (error instanceof HeldForPerson) {
			effect.flags.push({ code: 'held', text: error.doubt.text });
			recordDoubt(applying, error.doubt);
			return ['ignored', undefined];
		}
		if (error instanceof AmbiguousNumber) recordDoubt(applying, error.doubt);
		if (error instanceof Failure) return ['refused', error];
		context.onBug(error, message);
		return ['refused', new Failure('internal', 'the message could not be processed', { cause: error })];
	}
}

/** Returns `meta.source`: the surface by which the content came, and its control id or API key. */
export function sourceOf({ delivery, interpretation }: Prepared): string {
	const name = definitionOf(delivery.kind).sourceName?.(delivery) ?? interpretation.controlId;
	return `urn:tributary:${delivery.surface}:${encodeURIComponent(name.toWellFormed())}`;
}

interface Settling extends Partial<Effect> {
	outcome: Outcome;
	failure?: Failure | undefined;
	answer: AnswerOf<DeliveryKind>;
	/** The answer as it is logged. */
	acks: readonly Uint8Array[];
	replayOf: string | null;
}

function settled(message: Prepared, { sequence }: SettlementContext, settling: Settling): Settled {
	const { delivery, digest, interpretation } = message;
	const { outcome, failure, answer, acks, flags = [], replayOf } = settling;
	const changed = changedBy(settling);
	const readBy = interpretation.verdict.kind === 'apply' ? interpretation.verdict.changeSet.readBy : contentCharsetOf(delivery.settings);
	const { messageType, controlId } = interpretation;
	const record = failure ? failureRecord(failure) : undefined;
	const reply: Reply = { id: delivery.id, outcome, messageType, controlId, answer, flags };
	if (record) reply.failure = record;
	const reports = reportStatuses(settling);
	if (reports.length > 0 && !delivery.rehearsal) reply.reports = reports;
	if (!isLogged(message, outcome)) return { reply, logged: undefined };
	const logged: LoggedMessage = {
		// A part is logged as a message of its own, so that it can be replayed separately.
		delivery: interpretation.logAs === undefined ? delivery : { ...delivery, id: newId(), bytes: interpretation.logAs },
		digest,
		sequence,
		messageType,
		controlId,
		outcome,
		failure: record,
		flags: flags.length === 0 ? null : JSON.stringify(flags),
		changed: changed.length === 0 ? null : JSON.stringify(changed),
		settings: readBy === undefined ? null : JSON.stringify(readBy),
		replayOf,
		patients: patientsOf(message, settling.stepReports),
		acks,
	};
	return { reply, logged: message.loggedAs === 'whole' ? logged : shortened(logged, message.loggedAs) };
}

function reportStatuses({ changed = [] }: Partial<Effect>): string[] {
	return changed.filter(({ resourceType }) => resourceType === 'DiagnosticReport').map(({ resource }) => String(resource?.['status']));
}

/** Returns the versions of resources, and procedure steps with the number of their report. */
function changedBy({ changed = [], stepReports = [] }: Partial<Effect>): string[] {
	const rows = changed.map((row) => `${referenceTo(row)}/_history/${row.version}`);
	const reported = stepReports.filter(({ repeats }) => repeats === undefined);
	return [...rows, ...reported.map(({ step }) => `mpps/${step.id}/${step.reports}`)];
}
