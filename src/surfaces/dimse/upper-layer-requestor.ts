/**
 * The state table (PS3.8 §9.2, tables 9-1 to 9-10) for the side that requests associations and their release. Names, numbers and wordings
 * are the standard's.
 */

export const requestorStates = {
	Sta1: 'Idle',
	Sta4: 'Awaiting transport connection opening to complete (from local transport service)',
	Sta5: 'Awaiting A-ASSOCIATE-AC or A-ASSOCIATE-RJ PDU',
	Sta6: 'Association established and ready for data transfer',
	Sta7: 'Awaiting A-RELEASE-RP PDU',
	Sta8: 'Awaiting local A-RELEASE response primitive (from local user)',
	Sta9: 'Release collision requestor side; awaiting A-RELEASE response (from local user)',
	Sta11: 'Release collision requestor side; awaiting A-RELEASE-RP PDU',
	Sta13: 'Awaiting Transport Connection Close Indication (Association no longer exists)',
} as const;

export type RequestorState = keyof typeof requestorStates;

export const requestorActions = {
	'AE-1': 'Issue TRANSPORT CONNECT request primitive to local transport service',
	'AE-2': 'Send A-ASSOCIATE-RQ-PDU',
	'AE-3': 'Issue A-ASSOCIATE confirmation (accept) primitive',
	'AE-4': 'Issue A-ASSOCIATE confirmation (reject) primitive and close transport connection',
	'DT-2': 'Send P-DATA indication primitive',
	'AR-1': 'Send A-RELEASE-RQ PDU',
	'AR-2': 'Issue A-RELEASE indication primitive',
	'AR-3': 'Issue A-RELEASE confirmation primitive, and close transport connection',
	'AR-4': 'Issue A-RELEASE-RP PDU and start ARTIM timer',
	'AR-5': 'Stop ARTIM timer',
	'AR-6': 'Issue P-DATA indication',
	'AR-8': 'Issue A-RELEASE indication (release collision)',
	'AR-9': 'Send A-RELEASE-RP PDU',
	'AA-1': 'Send A-ABORT PDU (service-user source) and start ARTIM timer',
	'AA-2': 'Stop ARTIM timer if running. Close transport connection',
	'AA-3': 'Issue A-ABORT or A-P-ABORT indication and close transport connection',
	'AA-4': 'Issue A-P-ABORT indication primitive',
	'AA-6': 'Ignore PDU',
	'AA-7': 'Send A-ABORT PDU',
	'AA-8': 'Send A-ABORT PDU (service-provider source), issue an A-P-ABORT indication, and start ARTIM timer',
} as const;

export type RequestorAction = keyof typeof requestorActions;

type Row = Partial<Record<RequestorState, readonly [RequestorAction, RequestorState]>>;

function everyOpen(action: RequestorAction, next: RequestorState): Row {
	const entry = [action, next] as const;
	return { Sta5: entry, Sta6: entry, Sta7: entry, Sta8: entry, Sta9: entry, Sta11: entry };
}

const unexpected = everyOpen('AA-8', 'Sta13');

const table = {
	'A-ASSOCIATE Request (local user)': { Sta1: ['AE-1', 'Sta4'] },
	'Transport Conn. Confirmation (local transport service)': { Sta4: ['AE-2', 'Sta5'] },
	'A-ASSOCIATE-AC PDU': { ...unexpected, Sta5: ['AE-3', 'Sta6'], Sta13: ['AA-6', 'Sta13'] },
	'A-ASSOCIATE-RJ PDU': { ...unexpected, Sta5: ['AE-4', 'Sta1'], Sta13: ['AA-6', 'Sta13'] },
	'A-ASSOCIATE-RQ PDU': { ...unexpected, Sta13: ['AA-7', 'Sta13'] },
	'P-DATA-TF PDU': { ...unexpected, Sta6: ['DT-2', 'Sta6'], Sta7: ['AR-6', 'Sta7'], Sta13: ['AA-6', 'Sta13'] },
	'A-RELEASE Request primitive': { Sta6: ['AR-1', 'Sta7'] },
	'A-RELEASE-RQ PDU': { ...unexpected, Sta6: ['AR-2', 'Sta8'], Sta7: ['AR-8', 'Sta9'], Sta13: ['AA-6', 'Sta13'] },
	'A-RELEASE-RP PDU': { ...unexpected, Sta7: ['AR-3', 'Sta1'], Sta11: ['AR-3', 'Sta1'], Sta13: ['AA-6', 'Sta13'] },
	'A-RELEASE Response primitive': { Sta8: ['AR-4', 'Sta13'], Sta9: ['AR-9', 'Sta11'] },
	'A-ABORT Request primitive': { ...everyOpen('AA-1', 'Sta13'), Sta4: ['AA-2', 'Sta1'] },
	'A-ABORT PDU': { ...everyOpen('AA-3', 'Sta1'), Sta13: ['AA-2', 'Sta1'] },
	'Transport connection closed indication': { ...everyOpen('AA-4', 'Sta1'), Sta4: ['AA-4', 'Sta1'], Sta13: ['AR-5', 'Sta1'] },
	'ARTIM timer expired': { Sta13: ['AA-2', 'Sta1'] },
	'Unrecognized or invalid PDU received': { ...unexpected, Sta13: ['AA-7', 'Sta13'] },
} as const satisfies Record<string, Row>;

export type RequestorEvent = keyof typeof table;

/** Returns the action and the next state. Returns undefined when the table has no entry, because the event no longer matters. */
export function requestorTransition(
	state: RequestorState,
	event: RequestorEvent,
): { action: RequestorAction; next: RequestorState } | undefined {
	const entry = (table[event] as Row)[state];
	return entry && { action: entry[0], next: entry[1] };
}
