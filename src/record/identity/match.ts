import { Failure, type FailureLocation } from '#core/failure.ts';
import type { Row } from '../apply/rows.ts';
import type { WorkingSet } from '../apply/working-set.ts';
import { type IdentifierEntry, identifierLengthMax, otherNumberRank, patientIdentifiers } from '../holdings/patient-identifiers.ts';
import { siteAuthorities } from '../holdings/site-authorities.ts';
import type { Identifier } from '../resource-patch.ts';
import { AmbiguousNumber } from './ambiguous.ts';
import type { Authorities } from './authorities.ts';
import { isIndexable, systemOf } from './identifier-key.ts';
import { identifying, isMedicalRecordNumber } from './identifying.ts';

/** A patient to whom an identifier leads. */
export interface PatientMatch {
	/** The patient to whom the identifier leads now: the end of the chain of merges. */
	current: Row;
	/** The patient that carries the identifier itself. */
	direct: Row;
	/** True when the identifier led here by a merge: it is `old` on the survivor, or belongs to a patient that was replaced. */
	throughMerge: boolean;
}

/** Another patient to whom the numbers of a message lead. */
export interface OtherMatch {
	current: Row;
	/** True when one number is that of both patients; false when the message has numbers of both. */
	isShared: boolean;
}

/** The patient of a message, by all numbers that it states. */
export interface IdentifiedPatient extends PatientMatch {
	/** Further patients to whom the numbers lead. None of their numbers goes to the patient that was taken. */
	others: readonly OtherMatch[];
	/** Identifying numbers that nobody has. */
	unknown: readonly Identifier[];
	/** Identifying numbers that are the patient's own, not by a merge. */
	own: readonly Identifier[];
}

/** The patient as a message names them. */
export interface NamedBy {
	readonly identifiers: readonly Identifier[];
	/** The default authority of the sender or its site; a FHIR system URI. */
	readonly authority?: string | undefined;
}

interface Lead {
	identifier: Identifier;
	match: PatientMatch;
}

/**
 * Finds the patient of a message within the site by every number that identifies: by assigning authority and value, or by the value alone
 * when the message names no authority. If the numbers lead to several patients, the one is taken to whom a number of the sender's default
 * authority leads, else a number of type MR, else the first number.
 * @throws AmbiguousNumber when only numbers without an authority lead anywhere, and to several patients
 */
export function identifyPatient(set: WorkingSet, named: NamedBy, location: FailureLocation): IdentifiedPatient | undefined {
	const leads: Lead[] = [];
	const others: OtherMatch[] = [];
	const unknown: Identifier[] = [];
	const unclear: { identifier: Identifier; matches: PatientMatch[] }[] = [];
	for (const identifier of identifying(named.identifiers)) {
		const [match, ...further] = matchesOf(set, identifier, location);
		if (match === undefined) unknown.push(identifier);
		else if (further.length > 0 && systemOf(identifier) === '') unclear.push({ identifier, matches: [match, ...further] });
		else {
			leads.push({ identifier, match });
			for (const { current } of further) others.push({ current, isShared: true });
		}
	}
	const chosen = choose(leads, named.authority, set.of(siteAuthorities).known)?.match.current;
	if (chosen === undefined) {
		const [first] = unclear;
		if (first === undefined) return undefined;
		throw ambiguous(location, first.identifier, first.matches);
	}
	for (const { match } of leads) others.push({ current: match.current, isShared: false });
	for (const { matches } of unclear) {
		if (!matches.some(({ current }) => current.id === chosen.id))
			others.push(...matches.map(({ current }) => ({ current, isShared: false })));
	}
	const toChosen = leads.filter(({ match }) => match.current.id === chosen.id);
	const direct = toChosen.find(({ match }) => !match.throughMerge) ?? toChosen[0];
	if (direct === undefined) throw new Error('no number leads to the patient that was chosen');
	const own = toChosen.filter(({ match }) => !match.throughMerge).map(({ identifier }) => identifier);
	return { ...direct.match, others: distinct(others, chosen), unknown, own };
}

function ambiguous(location: FailureLocation, { value }: Identifier, matches: readonly PatientMatch[]): AmbiguousNumber {
	const patients = matches.map(({ current }) => current.id);
	return new AmbiguousNumber(fieldName(location), location, value, patients);
}

function choose(leads: readonly Lead[], authority: string | undefined, known: Authorities): Lead | undefined {
	if (leads.length <= 1) return leads[0];
	return (
		leads.find(({ identifier }) => authority !== undefined && known.isSame(systemOf(identifier), authority)) ??
		leads.find(({ identifier }) => isMedicalRecordNumber(identifier)) ??
		leads[0]
	);
}

function distinct(others: readonly OtherMatch[], chosen: Row): OtherMatch[] {
	const found = new Map<string, OtherMatch>();
	for (const other of others) if (other.current.id !== chosen.id && !found.has(other.current.id)) found.set(other.current.id, other);
	return [...found.values()];
}

/** Returns every patient to whom the identifiers lead, each once. */
export function patientsNamed(set: WorkingSet, identifiers: readonly Identifier[], location: FailureLocation): PatientMatch[] {
	const found = new Map<string, PatientMatch>();
	for (const identifier of identifying(identifiers)) {
		const matches = matchesOf(set, identifier, location);
		if (matches.length > 1 && systemOf(identifier) === '') {
			throw ambiguous(location, identifier, matches);
		}
		const [match] = matches;
		if (match === undefined) continue;
		const held = found.get(match.direct.id);
		if (held === undefined || (held.throughMerge && !match.throughMerge)) found.set(match.direct.id, match);
	}
	return [...found.values()];
}

/**
 * Returns every patient record that carries one of the identifiers, replaced ones too, each once: as its own where any does, else by a merge.
 * @throws AmbiguousNumber when a number without an authority leads to several patients
 */
export function recordsNamed(set: WorkingSet, identifiers: readonly Identifier[], location: FailureLocation): Row[] {
	patientsNamed(set, identifiers, location);
	const found = new Set<Row>();
	for (const identifier of identifying(identifiers)) {
		const { entries, own } = entriesOf(set, identifier);
		for (const { patientId } of own.length > 0 ? own : entries) {
			const row = set.row('Patient', patientId);
			if (row !== undefined) found.add(row);
		}
	}
	return [...found];
}

/**
 * Returns the patients to whom one identifier leads, each once. Several have one number of one authority only if FHIR clients or imports
 * gave it to them. Then the one whose business identifier it is comes first, then the one that the service made, then the older one.
 * @throws Failure `value-too-long` when no index can hold it
 */
function matchesOf(set: WorkingSet, identifier: Identifier, location: FailureLocation): PatientMatch[] {
	const system = systemOf(identifier);
	if (!isIndexable(identifier.value, system)) {
		throw new Failure('value-too-long', `${fieldName(location)} is longer than ${identifierLengthMax} characters`, { location });
	}
	const { entries, own } = entriesOf(set, identifier);
	const found = distinctMatches(set, own.length > 0 ? own : entries);
	// Two patients whose authorities became one later: each is meant by the name that is its own.
	if (found.length > 1 && system !== '') found.sort((left, right) => Number(right.system === system) - Number(left.system === system));
	return found;
}

/** Who carries an identifier; `own` are those who do not have it by a merge. */
function entriesOf(set: WorkingSet, identifier: Identifier): { entries: IdentifierEntry[]; own: IdentifierEntry[] } {
	const system = systemOf(identifier);
	const { known } = set.of(siteAuthorities);
	const entries = set
		.of(patientIdentifiers)
		.entries(identifier.value)
		.filter((entry) => entry.rank < otherNumberRank && (system === '' || known.isSame(entry.system, system)));
	return { entries, own: entries.filter((entry) => !entry.old) };
}

interface RankedMatch extends PatientMatch {
	rank: number;
	system: string;
}

function distinctMatches(set: WorkingSet, entries: readonly IdentifierEntry[]): RankedMatch[] {
	const matches = new Map<string, RankedMatch>();
	for (const entry of entries) {
		const direct = set.row('Patient', entry.patientId);
		if (direct === undefined) throw new Error('an identifier leads to a patient that was not read');
		const current = survivorOf(set, direct);
		const held = matches.get(current.id);
		if (held === undefined || entry.rank < held.rank) {
			matches.set(current.id, { current, direct, throughMerge: entry.old || current !== direct, rank: entry.rank, system: entry.system });
		}
	}
	const found = [...matches.values()];
	if (found.length > 1) found.sort(inOrder);
	return found;
}

function inOrder(left: RankedMatch, right: RankedMatch): number {
	const business = Number(right.rank === 0) - Number(left.rank === 0);
	if (business !== 0) return business;
	const made = Number(right.current.givenId === null) - Number(left.current.givenId === null);
	if (made !== 0) return made;
	return left.current.id < right.current.id ? -1 : 1;
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
