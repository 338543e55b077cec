import type { Json } from '#core/json.ts';
import type { ApplyContext } from '../apply/context.ts';
import { type Row, resourceOf } from '../apply/rows.ts';
import { othersListedMax } from '../holdings/patient-identifiers.ts';
import { settingOf } from '../settings/settings.ts';
import { recordDoubt, settleDoubts } from './doubt.ts';
import { heldText } from './doubt-kinds.ts';
import { HeldForPerson } from './held.ts';
import type { IdentifiedPatient } from './match.ts';
import { mismatch, surelyMatches } from './mismatch.ts';

/** Flags and lists that the numbers of a message lead to other patients too. */
export function noteOthers(context: ApplyContext, { current, others }: IdentifiedPatient, field: string): void {
	const isShared = others.every((other) => other.isShared);
	const text = isShared
		? `${field} has a number that several patients have; the message is recorded under one of them`
		: `${field} has numbers of several patients; the message is recorded under one of them`;
	context.flags.push({ code: 'identifiers-disagree', text });
	const disagreeing = others.filter((other) => !other.isShared);
	const sharing = others.filter((other) => other.isShared);
	for (const { current: other, isShared: shared } of [...disagreeing, ...sharing].slice(0, othersListedMax)) {
		const key = [current.id, other.id].sort();
		recordDoubt(context, {
			kind: shared ? 'number-shared' : 'identifiers-disagree',
			...{ key, text, patientId: current.id, otherPatientId: other.id },
		});
	}
}

/**
 * Compares the person that a message states with the record, and carries out the sender's setting `mismatch`. `kept`: the record stays as it
 * is; `changed`: it takes what is stated.
 * @throws HeldForPerson when the message is to wait for a person, which one of a FHIR client cannot
 */
export function noteMismatch(
	context: ApplyContext,
	row: Row,
	stated: Readonly<Record<string, Json>>,
	field: string,
	outcome: 'kept' | 'changed',
	mayHold = true,
): void {
	const { surface, settings } = context.message;
	const rule = settingOf(settings, 'mismatch');
	if ((rule === 'accept' && surface !== 'replay') || surelyMatches(row.text, stated)) return;
	const facts = mismatch(resourceOf(row), stated);
	if (facts.length === 0) return;
	const named = `${field} names a patient with another ${facts.slice(0, -1).join(', another ')} and another ${facts.at(-1)}`;
	const { name = null, birthDate = null, gender = null } = stated;
	const doubt = { kind: 'mismatch', key: [row.id, JSON.stringify([name, birthDate, gender])], patientId: row.id } as const;
	if (rule === 'accept') {
		settleDoubts(context, doubt, 'accepted');
		return;
	}
	if (rule === 'hold' && mayHold) throw new HeldForPerson({ ...doubt, text: `${named}; ${heldText}` });
	context.flags.push({ code: outcome === 'changed' ? 'possible-overlay' : 'mismatch', text: named });
	recordDoubt(context, { ...doubt, text: `${named}; ${outcome === 'changed' ? 'the record was changed' : 'the record stays as it was'}` });
}
