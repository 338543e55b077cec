import { type StepStatus, stepStatuses } from '#record/procedure-step.ts';
import { MppsRefusal, type RefusalReason } from './refusal.ts';

/** How a report comes: the body of `POST /ingest`, which does not tell the first one from the later, or one of the two DIMSE services. */
export type Operation = 'report' | 'create' | 'set';

/** The state of a procedure step; `none` before its first report. */
export type State = 'none' | StepStatus;

/** `late`: the step begins with its end. */
export type Step = 'begin' | 'late' | 'update' | { refuse: RefusalReason };

const refuse = (reason: RefusalReason): { refuse: RefusalReason } => ({ refuse: reason });

const closed: Readonly<Record<Operation, Step>> = { report: refuse('final'), create: refuse('exists'), set: refuse('final') };

/**
 * PS3.4 F.7.1: a procedure step begins IN PROGRESS and ends COMPLETED or DISCONTINUED, for good. Over HTTP it may begin with
 * its end, since bridges lose messages; N-CREATE has to say IN PROGRESS (F.7.2.1.2), and N-SET needs a step in progress (F.7.2.2.2).
 */
const steps: Readonly<Record<State, Readonly<Record<Operation, Readonly<Record<StepStatus, Step>>>>>> = {
	none: {
		report: { 'IN PROGRESS': 'begin', COMPLETED: 'late', DISCONTINUED: 'late' },
		create: { 'IN PROGRESS': 'begin', COMPLETED: refuse('value'), DISCONTINUED: refuse('value') },
		set: always(refuse('unknown')),
	},
	'IN PROGRESS': { report: always('update'), create: always(refuse('exists')), set: always('update') },
	COMPLETED: { report: always(closed.report), create: always(closed.create), set: always(closed.set) },
	DISCONTINUED: { report: always(closed.report), create: always(closed.create), set: always(closed.set) },
};

function always(step: Step): Record<StepStatus, Step> {
	return Object.fromEntries(stepStatuses.map((status) => [status, step])) as Record<StepStatus, Step>;
}

/** Tells what a report with this status does to a step in this state. */
export function stepOf(state: State, operation: Operation, status: StepStatus): Step {
	return steps[state][operation][status];
}

/** @throws MppsRefusal when the step does not take the report */
export function takeStep(state: State, operation: Operation, status: StepStatus): Exclude<Step, object> {
	const step = stepOf(state, operation, status);
	if (typeof step === 'string') return step;
	throw new MppsRefusal(step.refuse, told(step.refuse, state));
}

function told(reason: RefusalReason, state: State): string {
	switch (reason) {
		case 'final':
			return `the session is ${state}, which is final: it may no longer be updated`;
		case 'exists':
			return 'there is a session of this SOP Instance UID already';
		case 'unknown':
			return 'there is no session of this SOP Instance UID';
		default:
			return 'a procedure step begins IN PROGRESS';
	}
}
