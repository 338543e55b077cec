import type { Coding, Reference } from '#fhir/datatypes.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { codeText } from '#fhir/mapping/text.ts';
import type { Message, Segment } from '../message.ts';
import type { Context } from './context.ts';
import { codeableConcept } from './datatypes/cwe.ts';
import { practitioners } from './datatypes/xcn.ts';
import { participation } from './participation.ts';

/** Someone with a role (ROL, v2.5.1 §15.4.7). */
export interface Role {
	type: Coding;
	people: readonly Reference[];
}

/** Table 0443 → v3-ParticipationType (v2-to-FHIR); the other codes stay codes of the table. */
const types: Readonly<Record<string, Coding>> = {
	AD: participation.ADM,
	AT: participation.ATND,
	CP: participation.CON,
	RP: participation.REF,
};
const roleTable = v2Table('0443');

/** Segments that stand between PV1 and the roles of a visit, and between PID and those of a patient. Behind others a role is of a diagnosis, say. */
const besideVisit: ReadonlySet<string> = new Set(['PV2', 'ARV', 'ROL', 'NTE']);
const besidePatient: ReadonlySet<string> = new Set(['PD1', 'ARV', 'ROL', 'NTE']);

/** The roles behind a segment, but those that are deleted (ROL-2). */
function rolesBehind(message: Message, segment: Segment, beside: ReadonlySet<string>): Segment[] {
	const behind = message.segments.slice(message.segments.indexOf(segment) + 1);
	const end = behind.findIndex(({ id }) => !beside.has(id));
	const near = end < 0 ? behind : behind.slice(0, end);
	return near.filter((rol) => rol.id === 'ROL' && codeText(rol.text(2)).toUpperCase() !== 'DE');
}

/** Roles of a general practitioner in table 0443: family health care professional, primary care provider. */
const generalPractitioners: ReadonlySet<string> = new Set(['FHCP', 'PP']);

/** Returns the general practitioners whom roles behind PID name, for a sender whose messages refer to resources. */
export function practitionersOfPatient(message: Message, pid: Segment, context: Context): Reference[] {
	if (context.mentions === undefined || message.first('ROL') === undefined) return [];
	return rolesBehind(message, pid, besidePatient)
		.filter((rol) => generalPractitioners.has(codeText(rol.text(3)).toUpperCase()))
		.flatMap((rol) => practitioners(rol, 4, context));
}

/** Returns the roles of a visit, for a sender whose messages refer to resources: those behind PV1. A role that is deleted (ROL-2) is none. */
export function visitRoles(message: Message, pv1: Segment | undefined, context: Context): Role[] {
	if (context.mentions === undefined || pv1 === undefined || message.first('ROL') === undefined) return [];
	const roles: Role[] = [];
	for (const segment of rolesBehind(message, pv1, besideVisit)) {
		const type = typeOf(segment);
		const people = practitioners(segment, 4, context);
		if (type !== undefined && people.length > 0) roles.push({ type, people });
	}
	return roles;
}

function typeOf(rol: Segment): Coding | undefined {
	const stated = codeableConcept(rol, 3, 0, roleTable)?.coding?.[0];
	const mapped = stated?.system === roleTable ? entryOf(types, stated.code ?? '') : undefined;
	return mapped ?? stated;
}
