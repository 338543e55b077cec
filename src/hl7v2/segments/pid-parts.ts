import type { JsonObject } from '#core/json.ts';
import type { ContactPoint } from '#fhir/datatypes.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import type { Identifier } from '#record/change-set.ts';
import type { Segment } from '../message.ts';
import { identifiers } from './datatypes/cx.ts';
import { contactPoints } from './datatypes/xtn.ts';

type Parts = Record<string, JsonObject[] | null>;

const identifierTypes = v2Table('0203');
const ssnSystem = 'http://hl7.org/fhir/sid/us-ssn';

/** Identifier: PID-3, the account (PID-18), the social security number (PID-19) and the driver's licence (PID-20). */
export function patientIdentifierParts(pid: Segment, list: readonly Identifier[]): Parts {
	const parts: Parts = { 'PID-3': list.map((item, index) => (looksForeign(item) ? { id: `PID-3.${index + 1}`, ...item } : item)) };
	if (pid.isPresent(18)) setPart(parts, 'AN', pid, 18, identifiers(pid, 18, undefined, 'AN').map(asAccount));
	if (pid.isPresent(19)) setPart(parts, 'SS', pid, 19, socialSecurityNumber(pid));
	if (pid.isPresent(20)) setPart(parts, 'DL', pid, 20, driversLicence(pid));
	return parts;
}

function setPart(parts: Parts, part: string, segment: Segment, field: number, list: JsonObject[]): void {
	if (segment.isNull(field)) parts[part] = null;
	else if (list.length > 0) parts[part] = list;
}

/** Its type or system would make it another field's; the id keeps it PID-3's, so that a PID-3 without it removes it. */
function looksForeign(item: Identifier): boolean {
	return item['system'] === ssnSystem || typeCode(item) === 'AN' || typeCode(item) === 'DL';
}

function typeCode(item: Identifier): string | undefined {
	const type = item['type'] as { coding?: { code?: string }[] } | undefined;
	return type?.coding?.[0]?.code;
}

/** PID-18 is an account whatever CX-5 says. */
function asAccount(item: Identifier): Identifier {
	return typeCode(item) === 'AN' ? item : { ...item, type: { coding: [{ system: identifierTypes, code: 'AN' }] } };
}

/** PID-19 is ST in v2.5.1 (withdrawn; United States). */
function socialSecurityNumber(pid: Segment): JsonObject[] {
	const value = pid.text(19).trim();
	return value === '' ? [] : [{ value, type: { coding: [{ system: identifierTypes, code: 'SS' }] }, system: ssnSystem }];
}

/** PID-20 is DLN: number, issuing state or country, expiry. */
function driversLicence(pid: Segment): JsonObject[] {
	const value = pid.text(20).trim();
	if (value === '') return [];
	const system = authoritySystem(pid.text(20, 2), '', '');
	const type = { coding: [{ system: identifierTypes, code: 'DL' }] };
	return [system === '' ? { value, type } : { value, type, system }];
}

/** Telecom: PID-13 (home unless XTN-2 says otherwise), PID-14 (work), and PID-40 (v2.7), which replaces both. */
export function patientTelecomParts(pid: Segment, zone: string): Parts | undefined {
	const parts: Parts = {};
	const home = contactPoints(pid, 13, 'home', zone);
	const work = contactPoints(pid, 14, 'work', zone);
	if (pid.isPresent(40)) {
		const all = [...contactPoints(pid, 40, undefined, zone), ...home, ...work];
		if (all.length > 0 || pid.isNull(40)) parts['all'] = all;
	} else {
		setPart(
			parts,
			'home',
			pid,
			13,
			marked(home, 'PID-13', (point) => point.use === 'work'),
		);
		setPart(
			parts,
			'work',
			pid,
			14,
			marked(work, 'PID-14', (point) => point.use !== 'work'),
		);
	}
	for (const _part in parts) return parts;
	return undefined;
}

function marked(points: ContactPoint[], field: string, foreign: (point: ContactPoint) => boolean): ContactPoint[] {
	return points.map((point, index) => (foreign(point) ? { id: `${field}.${index + 1}`, ...point } : point));
}
