import type { JsonObject } from '#core/json.ts';
import { identifierPart } from '../apply/patch.ts';
import type { Identifier } from '../resource-patch.ts';
import type { Authorities } from './authorities.ts';
import { identifierKey, systemOf } from './identifier-key.ts';
import { identifies } from './identifying.ts';
import type { IdentifiedPatient } from './match.ts';

/** A patient with this many identifiers gets no further ones from messages. A sender that numbers each message anew would add one each time. */
const numbersMax = 200;

function heldIdentifiers(resource: JsonObject): Identifier[] {
	return (resource['identifier'] ?? []) as Identifier[];
}

/**
 * Returns the numbers that a patient has after a message that states `stated` in PID-3: those, without the numbers of other patients and
 * those that lead here by a merge, then the patient's own numbers of authorities that the message does not name.
 */
export function numbersAfter(
	resource: JsonObject,
	stated: readonly JsonObject[],
	{ own, unknown }: IdentifiedPatient,
	known: Authorities,
): JsonObject[] {
	const held = heldIdentifiers(resource).filter((item) => identifierPart(item) === 'PID-3');
	const taken = new Set([...own, ...unknown].map(identifierKey));
	const list = (stated as readonly Identifier[])
		.filter((item) => !identifies(item) || taken.has(identifierKey(item)))
		.map((item) => inHeldForm(item, held, known))
		// It may be stated with and without its authority.
		.filter((item, index, all) => all.findIndex((other) => identifierKey(other) === identifierKey(item)) === index);
	const told = new Set(list.map((item) => known.nameOf(systemOf(item))));
	return [...list, ...held.filter((item) => !told.has(known.nameOf(systemOf(item))))];
}

/** A number keeps the name of its authority as it was stated first, whatever name a later message has for it. */
export function inHeldForm(item: Identifier, held: readonly Identifier[], known: Authorities): Identifier {
	const system = systemOf(item);
	const same = held.filter(({ value }) => value === item.value);
	if (same.length === 0 || same.some((other) => systemOf(other) === system)) return item;
	return same.find((other) => system === '' || known.isSame(systemOf(other), system)) ?? item;
}

/** Returns the patient's identifiers with new numbers behind them; undefined when the patient has too many already. */
export function withNumbers(resource: JsonObject, unknown: readonly Identifier[]): Identifier[] | undefined {
	const held = heldIdentifiers(resource);
	return held.length + unknown.length > numbersMax ? undefined : [...held, ...unknown];
}
