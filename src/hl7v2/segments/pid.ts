import { endsBeforeStart } from '#core/date-range.ts';
import { Failure } from '#core/failure.ts';
import type { Json } from '#core/json.ts';
import type { Address, HumanName } from '#fhir/datatypes.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import { setBirth, setPreciseOrBare } from '#fhir/mapping/patient.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { Identifier, ResourcePatch } from '#record/resource-patch.ts';
import type { Message, Segment } from '../message.ts';
import { type Context, failureAt, nameOf } from './context.ts';
import { identifiers, statedAuthorities } from './datatypes/cx.ts';
import { addresses } from './datatypes/xad.ts';
import { humanNames } from './datatypes/xpn.ts';
import { languages, maritalStatus } from './demographics.ts';
import { patientExtensions } from './pid-extensions.ts';
import { patientIdentifierParts, patientTelecomParts } from './pid-parts.ts';

/** @throws Failure `segment-sequence` when there is none */
export function requirePid(message: Message): Segment {
	const pid = message.first('PID');
	if (pid === undefined) throw new Failure('segment-sequence', 'PID is missing', { location: { segment: 'PID' } });
	return pid;
}

export interface PatientOptions {
	/** `update`: demographics are the message's purpose, so a PID-7 that is no date refuses it. `keep`: PID only identifies. */
	known: PatientChange['known'];
}

/**
 * The patient of a PID segment, as a snapshot: an absent field stays as it is, `""` removes, a value replaces.
 * @throws Failure PID-3 without an identifier; PID-7 not a date
 */
export function patientChange(pid: Segment, ref: number, { known }: PatientOptions, context: Context): PatientChange {
	const list = requiredIdentifiers(pid, 3, context);
	const patch = patientPatch(pid, list, known, context);
	const change: PatientChange = { kind: 'patient', ref, identifiers: list, patch, known, sequence: pid.sequence };
	const defaultAuthority = context.settings.default_authority;
	if (defaultAuthority !== undefined) change.authority = defaultAuthority;
	const authorities = statedAuthorities(pid, 3);
	if (authorities !== undefined) change.authorities = authorities;
	return change;
}

/** @throws Failure `required-field-missing` when no repetition of the field has an identifier */
export function requiredIdentifiers(segment: Segment, field: number, context: Context): [Identifier, ...Identifier[]] {
	const [first, ...others] = identifiers(segment, field, context.settings.default_authority);
	if (first !== undefined) return [first, ...others];
	throw failureAt('required-field-missing', segment, field, `${segment.id}-${field} has no identifier in any repetition`);
}

function patientPatch(pid: Segment, list: readonly Identifier[], known: PatientChange['known'], context: Context): ResourcePatch {
	const { zone } = context;
	const elements: Record<string, Json> = {};
	replace(elements, 'name', pid, 5, () => names(pid, zone));
	birth(elements, pid, known, context);
	gender(elements, pid, context);
	replace(elements, 'address', pid, 11, () => addressesOf(pid, zone));
	replace(elements, 'communication', pid, 15, () => languages(pid));
	replace(elements, 'maritalStatus', pid, 16, () => maritalStatus(pid));
	multipleBirth(elements, pid, context);
	deceased(elements, pid, context);
	const parts: ResourcePatch['parts'] = { identifier: patientIdentifierParts(pid, list) };
	const telecom = patientTelecomParts(pid, zone);
	if (telecom) parts['telecom'] = telecom;
	const extension = patientExtensions(pid, zone);
	if (extension) parts['extension'] = extension;
	return { elements, parts };
}

/** Snapshot of one element from one field: nothing when the field is absent or has no content, null for `""`. */
export function replace(
	elements: Record<string, Json>,
	element: string,
	segment: Segment,
	field: number,
	read: () => Json | undefined,
): void {
	if (!segment.isPresent(field)) return;
	const value = segment.isNull(field) ? null : read();
	if (value !== undefined) elements[element] = value;
}

/** PID-5, and PID-9 (aliases, withdrawn in 2.5) behind it. */
function names(pid: Segment, zone: Zone): HumanName[] | undefined {
	const found = humanNames(pid, 5, zone);
	if (pid.isPresent(9)) found.push(...humanNames(pid, 9, zone));
	return found.length === 0 ? undefined : found;
}

/** PID-11; PID-12, the county (withdrawn in 2.3), is the district of the first address when that names none. */
function addressesOf(pid: Segment, zone: Zone): Address[] | undefined {
	const found = addresses(pid, 11, zone);
	const county = pid.text(12);
	const first = found[0];
	if (first && county !== '' && first.district === undefined) first.district = county;
	return found.length === 0 ? undefined : found;
}

function birth(elements: Record<string, Json>, pid: Segment, known: PatientChange['known'], context: Context): void {
	if (!pid.isPresent(7)) return;
	const text = pid.text(7).trim();
	if (text === '') {
		if (!pid.isNull(7)) return;
		elements['birthDate'] = null;
		elements['_birthDate'] = null;
		return;
	}
	if (/^0+$/.test(text)) {
		context.unreadable(pid, 7, 'is all zeros, which is no date, and was left out');
		return;
	}
	if (setBirth(elements, text, context.zone)) {
		if (isLaterThan(elements['birthDate'], context.sent))
			context.flag('future-birth', 'PID-7 lies after MSH-7: nobody is born in the future');
		return;
	}
	if (known === 'update') throw failureAt('data-type', pid, 7, 'PID-7 is not a date (YYYY[MM[DD[HH[MM[SS]]]]])');
	context.unreadable(pid, 7, 'is not a date and was left out');
}

/** Both are days of the sender. */
function isLaterThan(day: Json | undefined, sent: string | undefined): boolean {
	if (typeof day !== 'string' || sent === undefined) return false;
	return endsBeforeStart(day, sent.slice(0, 10));
}

/** Table 0001. */
const genders: Readonly<Record<string, string>> = {
	F: 'female',
	M: 'male',
	O: 'other',
	A: 'other',
	N: 'other',
	U: 'unknown',
	FEMALE: 'female',
	MALE: 'male',
	OTHER: 'other',
	UNKNOWN: 'unknown',
};

function gender(elements: Record<string, Json>, pid: Segment, context: Context): void {
	replace(elements, 'gender', pid, 8, () => administrativeGender(pid, 8, context));
}

/** A code that the table does not list is flagged and read as unknown. */
export function administrativeGender(segment: Segment, field: number, context: Context): string | undefined {
	const code = segment.text(field).trim().toUpperCase();
	if (code === '') return undefined;
	const found = entryOf(genders, code);
	if (found === undefined) context.unreadable(segment, field, 'has a code that table 0001 does not list; read as unknown');
	return found ?? 'unknown';
}

/** Table 0136. */
function yesOrNo(text: string): boolean | undefined {
	switch (text.trim().toUpperCase()) {
		case 'Y':
		case 'YES':
			return true;
		case 'N':
		case 'NO':
			return false;
		default:
			return undefined;
	}
}

/** PID-25, the order of birth, says more than PID-24; FHIR has room for one of them. */
function multipleBirth(elements: Record<string, Json>, pid: Segment, context: Context): void {
	const order = /^\d{1,4}$/.test(pid.text(25)) ? Number(pid.text(25)) : 0;
	const precise = order > 0 ? order : pid.isNull(25) ? null : undefined;
	setPreciseOrBare(elements, {
		precise: { element: 'multipleBirthInteger', value: precise },
		bare: { element: 'multipleBirthBoolean', value: flagIn(pid, 24, precise, context) },
	});
}

function deceased(elements: Record<string, Json>, pid: Segment, context: Context): void {
	const precise = context.time(pid, 29) ?? (pid.isNull(29) ? null : undefined);
	setPreciseOrBare(elements, {
		precise: { element: 'deceasedDateTime', value: precise },
		bare: { element: 'deceasedBoolean', value: flagIn(pid, 30, precise, context) },
	});
}

/** Reads a field that is Y or N. It is ignored beside a precise value. */
function flagIn(pid: Segment, field: number, precise: Json | undefined, context: Context): boolean | null | undefined {
	if ((precise !== undefined && precise !== null) || !pid.isPresent(field)) return undefined;
	if (pid.isNull(field)) return null;
	const flag = yesOrNo(pid.text(field));
	if (flag === undefined && pid.text(field) !== '') context.unreadable(pid, field, 'is neither Y nor N and was left out');
	return flag;
}

/** Refuses a second PID in an ADT message about one patient, because it would be lost silently. */
export function flagFurtherPatients(message: Message, context: Context): void {
	const second = message.all('PID')[1];
	if (second) context.flag('segment-skipped', `${nameOf(second)} was left out: the event is about one patient`);
}
