import { z } from 'zod';
import type { Segment } from '#hl7v2/message.ts';
import { AdministrationError } from './context.ts';

const written = /^([A-Z][A-Z0-9]{2})-([1-9][0-9]{0,2})(?:\.([1-9][0-9]?))?(!?[=~])(.*)$/s;

/** A condition on a field of a message. */
export interface ContentCondition {
	segment: string;
	field: number;
	/** Undefined for the field as a whole. */
	component: number | undefined;
	isNegated: boolean;
	holds(value: string): boolean;
}

/** The words of a condition: `OBX-3=718-7`, `PID-5~^smi`. */
export const contentText = z
	.string()
	.max(200)
	.describe(
		'a field and what it holds: `OBX-3=718-7` is exactly so, `PID-5~smi` contains it in any case, with ^ at its beginning or $ at its end; != and !~ negate',
	);

/** @throws AdministrationError if it is none */
export function conditionOf(text: string): ContentCondition {
	const [, segment = '', field = '', component, operator = '', value = ''] = written.exec(text.trim()) ?? [];
	if (segment === '' || value === '') throw new AdministrationError('write it as OBX-3=718-7 or PID-5~^smi', 'form', 'where');
	const holds = operator.endsWith('=') ? (found: string) => found === value : likeOf(value.toLowerCase());
	const part = component === undefined ? undefined : Number(component);
	return { segment, field: Number(field), component: part, isNegated: operator.startsWith('!'), holds };
}

/** No regular expression: whoever writes one can make it take for ever. */
function likeOf(pattern: string): (found: string) => boolean {
	const begins = pattern.startsWith('^');
	const ends = pattern.endsWith('$');
	const text = pattern.slice(begins ? 1 : 0, ends ? -1 : undefined);
	return (found) => {
		const small = found.toLowerCase();
		if (begins && ends) return small === text;
		return begins ? small.startsWith(text) : ends ? small.endsWith(text) : small.includes(text);
	};
}

/** The work on a message, which may have hundreds of thousands of repetitions. */
export interface ContentWork {
	/** Lets others have their turn when it is due. Resolves with false when the time for the message is over. */
	goesOn(): Promise<boolean>;
}

/** So many segments and repetitions are looked at before the work asks whether it goes on. */
const stretch = 256;

/**
 * The condition holds if it does for one repetition of the field in one segment, and a negated one if it does for none. Undefined when the
 * work ended before that was known.
 */
export async function satisfies(
	segments: readonly Segment[],
	condition: ContentCondition,
	work: ContentWork,
): Promise<boolean | undefined> {
	const { segment, field, isNegated } = condition;
	let looked = 0;
	for (const each of segments) {
		if (++looked % stretch === 0 && !(await work.goesOn())) return undefined;
		// To count the repetitions is to walk over the whole field, so they are counted once.
		const repetitions = each.id === segment ? each.repetitions(field) : 0;
		for (let repetition = 0; repetition < repetitions; repetition++) {
			if (++looked % stretch === 0 && !(await work.goesOn())) return undefined;
			if (isHeld(each, repetition, condition)) return !isNegated;
		}
	}
	return isNegated;
}

/** A field is its first component, too: the code of OBX-3, the family name of PID-5. */
function isHeld(segment: Segment, repetition: number, { field, component, holds }: ContentCondition): boolean {
	if (component !== undefined) return holds(segment.text(field, component, repetition));
	return holds(segment.display(field, repetition)) || holds(segment.text(field, 1, repetition));
}
