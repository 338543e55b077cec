import type { Json } from '#core/json.ts';
import type { ApplyContext } from '../apply/context.ts';
import { type Row, resourceOf } from '../apply/rows.ts';
import { recordDoubt } from './doubt.ts';
import type { IdentifiedPatient } from './match.ts';
import { mismatch } from './mismatch.ts';

/** Flags and lists that the numbers of a message lead to other patients too. */
export function noteOthers(context: ApplyContext, { current, others }: IdentifiedPatient, field: string): void {
	const isShared = others.every((other) => other.isShared);
	const text = isShared
		? `${field} has a number that several patients have; the message is recorded under one of them`
		: `${field} has numbers of several patients; the message is recorded under one of them`;
	context.flags.push({ code: 'identifiers-disagree', text });
	for (const { current: other, isShared: shared } of others) {
		const key = [current.id, other.id].sort();
		recordDoubt(context, {
			kind: shared ? 'number-shared' : 'identifiers-disagree',
			...{ key, text, patientId: current.id, otherPatientId: other.id },
		});
	}
}

/** Flags and lists that a known number comes with another person. `kept`: the record stays as it is; `changed`: it takes what is stated. */
export function noteMismatch(
	context: ApplyContext,
	row: Row,
	stated: Readonly<Record<string, Json>>,
	field: string,
	outcome: 'kept' | 'changed',
): boolean {
	const facts = mismatch(resourceOf(row), stated);
	if (facts.length === 0) return false;
	const last = facts.at(-1);
	const named = `${field} names a patient with another ${facts.slice(0, -1).join(', another ')} and another ${last}`;
	context.flags.push({ code: outcome === 'changed' ? 'possible-overlay' : 'mismatch', text: named });
	const { name = null, birthDate = null, gender = null } = stated;
	recordDoubt(context, {
		kind: 'mismatch',
		key: [row.id, JSON.stringify([name, birthDate, gender])],
		text: `${named}; ${outcome === 'changed' ? 'the record was changed' : 'the record stays as it was'}`,
		patientId: row.id,
	});
	return true;
}
