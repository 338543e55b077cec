import type { JsonObject } from '#core/json.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { alternateCode } from './datatypes/alternate-codes.ts';

export interface ResultStatus {
	/** FHIR Observation.status. */
	status: string;
	/** Code of data-absent-reason, if the status itself explains why there is no value. */
	absent?: string;
	/** True when FHIR has no equivalent status, so the code of the table is kept beside it. */
	coarser?: true;
	/** True when the code may come without its result, which then stays unchanged. */
	restates?: true;
}

/** Table 0085 (v2.5.1 and later); where the v2-to-FHIR guide has no target the choice is ours. */
const statuses: Readonly<Record<string, ResultStatus>> = {
	A: { status: 'amended' },
	B: { status: 'amended', coarser: true },
	C: { status: 'corrected' },
	D: { status: 'entered-in-error', coarser: true, restates: true },
	F: { status: 'final' },
	I: { status: 'registered', coarser: true },
	N: { status: 'cancelled', absent: 'not-asked', coarser: true },
	O: { status: 'registered', coarser: true },
	P: { status: 'preliminary' },
	R: { status: 'preliminary', coarser: true },
	S: { status: 'preliminary', coarser: true },
	U: { status: 'final', coarser: true, restates: true },
	V: { status: 'final', coarser: true },
	W: { status: 'entered-in-error', coarser: true, restates: true },
	X: { status: 'cancelled', absent: 'unknown', coarser: true },
};

/** Table 0123, OBR-25, for observations whose OBX-11 is empty. */
const orderStatuses: Readonly<Record<string, ResultStatus>> = {
	A: { status: 'preliminary' },
	C: { status: 'corrected' },
	F: { status: 'final' },
	I: { status: 'registered' },
	O: { status: 'registered' },
	P: { status: 'preliminary' },
	R: { status: 'preliminary' },
	S: { status: 'registered' },
	X: { status: 'cancelled' },
};

const unknownStatus: ResultStatus = { status: 'unknown' };

/** `known` is false for a code that table 0085 does not list. */
export function resultStatus(code: string, orderCode: string): ResultStatus & { known: boolean } {
	if (code !== '') return { ...(entryOf(statuses, code) ?? unknownStatus), known: Object.hasOwn(statuses, code) };
	return { ...(entryOf(orderStatuses, orderCode) ?? unknownStatus), known: true };
}

const statusTable = v2Table('0085');

/** `_status`: the code as sent (v2-to-FHIR does so for X). */
export function originalStatus(code: string): JsonObject {
	return alternateCode({ coding: [{ system: statusTable, code }] });
}
