import { type StepStatus, stepStatuses } from '#record/procedure-step.ts';

const byLetters: ReadonlyMap<string, StepStatus> = new Map(stepStatuses.map((status) => [lettersOf(status), status]));

function lettersOf(text: string): string {
	return text.replace(/[\s_-]+/g, '').toUpperCase();
}

/** A status as senders write it (`In_Progress`, `completed`), as the standard does; undefined when it is none. */
export function statusOf(text: string): StepStatus | undefined {
	return text.length > 32 ? undefined : byLetters.get(lettersOf(text));
}
