import { z } from 'zod';
import type { FailureLocation } from '#core/failure.ts';
import type { DeliveryKind } from '#record/delivery.ts';
import { hl7v2Names } from '../reading/hl7v2-names.ts';

/** The columns of the message log that say what was wrong with a message. */
export interface RefusedRow {
	kind: DeliveryKind | null;
	failure: string | null;
	ack: Buffer;
}

/**
 * Returns the place of the fault in a refused message. The log keeps it in the answer (ERR-2 of HL7 v2, the expression of an OperationOutcome); otherwise the failure text begins
 * with it, or names it.
 */
export function locationOf({ kind, ack, failure }: RefusedRow): FailureLocation | undefined {
	if (kind === 'hl7v2') return statedIn(ack) ?? namedIn(failure ?? '');
	if (kind === 'fhir') {
		const stated = expressionIn(ack);
		if (stated !== undefined) return { expression: stated };
	}
	const [expression] = /\b[A-Z][A-Za-z]+(?:\.[a-z][A-Za-z0-9]*(?:\[\d+\])?)+/.exec(failure ?? '') ?? [];
	return expression === undefined ? undefined : { expression };
}

const outcome = z.object({ issue: z.array(z.object({ expression: z.array(z.string()).optional() })) });

/** Reads the element of the first issue that names one. */
function expressionIn(ack: Buffer): string | undefined {
	if (!ack.includes('OperationOutcome')) return undefined;
	try {
		const parsed = outcome.safeParse(JSON.parse(ack.toString('utf8')));
		const [expression] = parsed.data?.issue.flatMap((issue) => issue.expression ?? []) ?? [];
		return expression !== undefined && /^[A-Z][A-Za-z]+(?:\.[A-Za-z]+(?:\[\d+\])?)*$/.test(expression) ? expression : undefined;
	} catch (error) {
		// Several answers of a Bundle stand one behind the other.
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
}

/** Reads ERR-2 of the first ERR (ERL: segment, sequence, field, repetition, component). */
function statedIn(ack: Buffer): FailureLocation | undefined {
	const text = ack.toString('latin1');
	const separator = text.charAt(3);
	const component = text.charAt(4);
	const line = text.split('\r').find((segment) => segment.startsWith(`ERR${separator}`));
	const [segment, ...numbers] = line?.split(separator)[2]?.split(component) ?? [];
	if (segment === undefined || !/^[A-Z][A-Z\d]{2}$/.test(segment)) return undefined;
	const [sequence, field, repetition, part] = numbers.map((number) => (/^\d{1,5}$/.test(number) ? Number(number) : undefined));
	return located({ segment, sequence, field, repetition, component: part });
}

/** Reads `PID-3` and `PID-3.1` at the beginning of a failure text. */
function namedIn(text: string): FailureLocation | undefined {
	const [, segment, field, component] = /^([A-Z][A-Z\d]{2})-(\d{1,3})(?:\.(\d{1,3}))?\b/.exec(text) ?? [];
	if (segment === undefined) return undefined;
	return located({ segment, sequence: 1, field: Number(field), component: component === undefined ? undefined : Number(component) });
}

function located(parts: { [Member in keyof FailureLocation]: FailureLocation[Member] | undefined }): FailureLocation {
	return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

/** Names the place for people: `PID-3 (Patient Identifier List)`. */
export function placeName({ segment, sequence, field, component, expression }: FailureLocation): string {
	if (segment === undefined) return expression ?? '';
	const names = hl7v2Names();
	const number = sequence !== undefined && sequence > 1 ? ` of segment no. ${sequence}` : '';
	if (field === undefined) return `${segment}${nameIn(names.segment(segment))}${number}`;
	const known = names.field(segment, field);
	const part = component === undefined ? undefined : known && names.component(known.datatype, component);
	const name = [known?.name, part?.name].filter((text) => text !== undefined).join(', ');
	return `${segment}-${field}${component === undefined ? '' : `.${component}`}${nameIn(name)}${number}`;
}

function nameIn(name: string | null): string {
	return name ? ` (${name})` : '';
}
