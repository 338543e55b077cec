import type { JsonObject } from '#core/json.ts';
import type { ContactPoint } from '#fhir/datatypes.ts';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import type { Zone } from '#fhir/mapping/local-zone.ts';
import { driversLicence, identifierList, identifierTypes, socialSecurityNumber, typeCode } from '#fhir/mapping/patient.ts';
import type { Identifier } from '#record/resource-patch.ts';
import type { Segment } from '../message.ts';
import { identifiers } from './datatypes/cx.ts';
import { contactPoints } from './datatypes/xtn.ts';

type Parts = Record<string, JsonObject[] | null>;

/** Identifier: PID-3, the account (PID-18), the social security number (PID-19) and the driver's licence (PID-20). */
export function patientIdentifierParts(pid: Segment, list: readonly Identifier[]): Parts {
	const parts: Parts = { 'PID-3': identifierList(list) };
	if (pid.isPresent(18)) setPart(parts, 'AN', pid, 18, identifiers(pid, 18, undefined, 'AN').map(asAccount));
	if (pid.isPresent(19)) setPart(parts, 'SS', pid, 19, socialSecurityNumbers(pid));
	if (pid.isPresent(20)) setPart(parts, 'DL', pid, 20, driversLicences(pid));
	return parts;
}

function setPart(parts: Parts, part: string, segment: Segment, field: number, list: JsonObject[]): void {
	if (segment.isNull(field)) parts[part] = null;
	else if (list.length > 0) parts[part] = list;
}

/** PID-18 is an account whatever CX-5 says. */
function asAccount(item: Identifier): Identifier {
	return typeCode(item) === 'AN' ? item : { ...item, type: { coding: [{ system: identifierTypes, code: 'AN' }] } };
}

/** PID-19 is ST in v2.5.1 (withdrawn; United States). */
function socialSecurityNumbers(pid: Segment): JsonObject[] {
	const value = pid.text(19).trim();
	return value === '' ? [] : [socialSecurityNumber(value)];
}

/** PID-20 is DLN: number, issuing state or country, expiry. */
function driversLicences(pid: Segment): JsonObject[] {
	const value = pid.text(20).trim();
	return value === '' ? [] : [driversLicence(value, authoritySystem(pid.text(20, 2), '', ''))];
}

/** Telecom: PID-13 (home unless XTN-2 says otherwise), PID-14 (work), and PID-40 (v2.7), which replaces both. */
export function patientTelecomParts(pid: Segment, zone: Zone): Parts | undefined {
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
