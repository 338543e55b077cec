import { Failure, type FailureLocation } from '#core/failure.ts';
import { type IdentifierEntry, identifierLengthMax, otherNumberRank, patientIdentifiers } from '../holdings/patient-identifiers.ts';
import type { Identifier } from '../resource-patch.ts';
import type { Row } from './rows.ts';
import type { WorkingSet } from './working-set.ts';

export interface PatientMatch {
	/** The patient to whom the identifier leads now: the end of the chain of merges. */
	current: Row;
	/** The patient that carries the identifier itself. */
	direct: Row;
	/** True when the identifier led here by a merge: it is `old` on the survivor, or belongs to a patient that was replaced. */
	throughMerge: boolean;
}

/**
 * Finds the patient of a business identifier within the site: by assigning authority and value, or by the value alone when the message
 * names no authority.
 * @throws Failure `ambiguous-key` when several patients have it
 */
export function matchPatient(set: WorkingSet, identifier: Identifier, location: FailureLocation): PatientMatch | undefined {
	const system = systemOf(identifier);
	if (!isIndexable(identifier.value, system)) {
		throw new Failure('value-too-long', `${fieldName(location)} is longer than ${identifierLengthMax} characters`, { location });
	}
	const entries = set
		.of(patientIdentifiers)
		.entries(identifier.value)
		.filter((entry) => entry.rank < otherNumberRank && (system === '' || entry.system === system));
	const own = entries.filter((entry) => !entry.old);
	const match = single(set, own.length > 0 ? own : entries, system !== '');
	if (match === 'several') {
		const means = system === '' ? 'without an assigning authority ' : '';
		throw new Failure('ambiguous-key', `${fieldName(location)} ${means}matches several patients of this site`, { location });
	}
	return match;
}

/** An entry of a B-tree has 2,704 bytes at most; that of an identifier also holds two UUIDs and the lengths of its texts. */
const indexedBytesMax = 2600;

/** Tells whether the index of identifiers can hold a value and its system. */
export function isIndexable(value: string, system: string): boolean {
	if (value.length > identifierLengthMax || system.length > identifierLengthMax) return false;
	// A character takes at most three bytes for each unit of UTF-16.
	if ((value.length + system.length) * 3 <= indexedBytesMax) return true;
	return Buffer.byteLength(value) + Buffer.byteLength(system) <= indexedBytesMax;
}

export function systemOf(identifier: Identifier): string {
	const system = identifier['system'];
	return typeof system === 'string' ? system : '';
}

/** Returns the key of an identifier. Two identifiers with the same system and value have the same key. */
export function identifierKey(identifier: Identifier): string {
	const system = systemOf(identifier);
	return `${system.length} ${system}${identifier.value}`;
}

function single(set: WorkingSet, entries: readonly IdentifierEntry[], preferBusiness: boolean): PatientMatch | 'several' | undefined {
	const matches = new Map<string, PatientMatch & { rank: number }>();
	for (const entry of entries) {
		const direct = set.row('Patient', entry.patientId);
		if (direct === undefined) throw new Error('an identifier leads to a patient that was not read');
		const current = survivorOf(set, direct);
		const held = matches.get(current.id);
		if (held === undefined || entry.rank < held.rank) {
			matches.set(current.id, { current, direct, throughMerge: entry.old || current !== direct, rank: entry.rank });
		}
	}
	if (matches.size <= 1) return matches.values().next().value;
	const business = [...matches.values()].filter((match) => match.rank === 0);
	return preferBusiness && business.length === 1 ? business[0] : 'several';
}

/** Follows `merged_into` to the patient that was not replaced. */
export function survivorOf(set: WorkingSet, row: Row): Row {
	let current = row;
	for (let next = current.links['merged_into']; typeof next === 'string'; next = current.links['merged_into']) {
		const survivor = set.row('Patient', next);
		if (survivor === undefined) throw new Error('the survivor of a merge was not read');
		current = survivor;
	}
	return current;
}

/** Returns the name of the field for a failure or flag: `PID-3`, or the XPath. */
export function fieldName(location: FailureLocation): string {
	return location.expression ?? `${location.segment}-${location.field}`;
}
