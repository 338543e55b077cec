/**
 * The state table of the DICOM upper layer protocol (PS3.8 §9.2, tables 9-1 to 9-10) for the side that accepts associations and never
 * requests one or its release. Names, numbers and wordings are the standard's.
 */

export const states = {
	Sta1: 'Idle',
	Sta2: 'Transport connection open (Awaiting A-ASSOCIATE-RQ PDU)',
	Sta3: 'Awaiting local A-ASSOCIATE response primitive (from local user)',
	Sta6: 'Association established and ready for data transfer',
	Sta8: 'Awaiting local A-RELEASE response primitive (from local user)',
	Sta13: 'Awaiting Transport Connection Close Indication (Association no longer exists)',
} as const;

export type State = keyof typeof states;

export const actions = {
	'AE-5': 'Issue Transport connection response primitive; start ARTIM timer',
	'AE-6': 'Stop ARTIM timer; issue A-ASSOCIATE indication primitive',
	'AE-7': 'Send A-ASSOCIATE-AC PDU',
	'AE-8': 'Send A-ASSOCIATE-RJ PDU and start ARTIM timer',
	'DT-2': 'Send P-DATA indication primitive',
	'AR-2': 'Issue A-RELEASE indication primitive',
	'AR-4': 'Issue A-RELEASE-RP PDU and start ARTIM timer',
	'AR-5': 'Stop ARTIM timer',
	'AA-1': 'Send A-ABORT PDU (service-user source) and start ARTIM timer',
	'AA-2': 'Stop ARTIM timer if running. Close transport connection',
	'AA-3': 'Issue A-ABORT or A-P-ABORT indication and close transport connection',
	'AA-4': 'Issue A-P-ABORT indication primitive',
	'AA-5': 'Stop ARTIM timer',
	'AA-6': 'Ignore PDU',
	'AA-7': 'Send A-ABORT PDU',
	'AA-8': 'Send A-ABORT PDU (service-provider source), issue an A-P-ABORT indication, and start ARTIM timer',
} as const;

export type Action = keyof typeof actions;

type Row = Partial<Record<State, readonly [Action, State]>>;

const unexpected = { Sta2: ['AA-1', 'Sta13'], Sta3: ['AA-8', 'Sta13'], Sta6: ['AA-8', 'Sta13'], Sta8: ['AA-8', 'Sta13'] } as const;

const table = {
	'Transport Connection Indication': { Sta1: ['AE-5', 'Sta2'] },
	'A-ASSOCIATE-RQ PDU': { ...unexpected, Sta2: ['AE-6', 'Sta3'], Sta13: ['AA-7', 'Sta13'] },
	'A-ASSOCIATE-AC PDU': { ...unexpected, Sta13: ['AA-6', 'Sta13'] },
	'A-ASSOCIATE-RJ PDU': { ...unexpected, Sta13: ['AA-6', 'Sta13'] },
	'A-ASSOCIATE response primitive (accept)': { Sta3: ['AE-7', 'Sta6'] },
	'A-ASSOCIATE response primitive (reject)': { Sta3: ['AE-8', 'Sta13'] },
	'P-DATA-TF PDU': { ...unexpected, Sta6: ['DT-2', 'Sta6'], Sta13: ['AA-6', 'Sta13'] },
	'A-RELEASE-RQ PDU': { ...unexpected, Sta6: ['AR-2', 'Sta8'], Sta13: ['AA-6', 'Sta13'] },
	'A-RELEASE-RP PDU': { ...unexpected, Sta13: ['AA-6', 'Sta13'] },
	'A-RELEASE response primitive': { Sta8: ['AR-4', 'Sta13'] },
	'A-ABORT request primitive': { Sta3: ['AA-1', 'Sta13'], Sta6: ['AA-1', 'Sta13'], Sta8: ['AA-1', 'Sta13'] },
	'A-ABORT PDU': {
		Sta2: ['AA-2', 'Sta1'],
		Sta3: ['AA-3', 'Sta1'],
		Sta6: ['AA-3', 'Sta1'],
		Sta8: ['AA-3', 'Sta1'],
		Sta13: ['AA-2', 'Sta1'],
	},
	'Transport connection closed indication': {
		Sta2: ['AA-5', 'Sta1'],
		Sta3: ['AA-4', 'Sta1'],
		Sta6: ['AA-4', 'Sta1'],
		Sta8: ['AA-4', 'Sta1'],
		Sta13: ['AR-5', 'Sta1'],
	},
	'ARTIM timer expired': { Sta2: ['AA-2', 'Sta1'], Sta13: ['AA-2', 'Sta1'] },
	'Unrecognized or invalid PDU received': { ...unexpected, Sta13: ['AA-7', 'Sta13'] },
} as const satisfies Record<string, Row>;

export type UpperLayerEvent = keyof typeof table;

/** Returns the action and the next state. Returns undefined when the table has no entry, because the event no longer matters. */
export function transition(state: State, event: UpperLayerEvent): { action: Action; next: State } | undefined {
	const entry = (table[event] as Row)[state];
	return entry && { action: entry[0], next: entry[1] };
}
