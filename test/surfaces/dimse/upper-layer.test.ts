import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actions, type State, states, transition, type UpperLayerEvent } from '#surfaces/dimse/upper-layer.ts';
import {
	type RequestorEvent,
	type RequestorState,
	requestorActions,
	requestorStates,
	requestorTransition,
} from '#surfaces/dimse/upper-layer-requestor.ts';

/** PS3.8 table 9-10, the columns of the side that accepts, as `action/next state`; `-` where the table has nothing. */
const columns: State[] = ['Sta1', 'Sta2', 'Sta3', 'Sta6', 'Sta8', 'Sta13'];
const standard: Record<UpperLayerEvent, string> = {
	'Transport Connection Indication': 'AE-5/2 - - - - -',
	'A-ASSOCIATE-AC PDU': '- AA-1/13 AA-8/13 AA-8/13 AA-8/13 AA-6/13',
	'A-ASSOCIATE-RJ PDU': '- AA-1/13 AA-8/13 AA-8/13 AA-8/13 AA-6/13',
	'A-ASSOCIATE-RQ PDU': '- AE-6/3 AA-8/13 AA-8/13 AA-8/13 AA-7/13',
	'A-ASSOCIATE response primitive (accept)': '- - AE-7/6 - - -',
	'A-ASSOCIATE response primitive (reject)': '- - AE-8/13 - - -',
	'P-DATA-TF PDU': '- AA-1/13 AA-8/13 DT-2/6 AA-8/13 AA-6/13',
	'A-RELEASE-RQ PDU': '- AA-1/13 AA-8/13 AR-2/8 AA-8/13 AA-6/13',
	'A-RELEASE-RP PDU': '- AA-1/13 AA-8/13 AA-8/13 AA-8/13 AA-6/13',
	'A-RELEASE response primitive': '- - - - AR-4/13 -',
	'A-ABORT request primitive': '- - AA-1/13 AA-1/13 AA-1/13 -',
	'A-ABORT PDU': '- AA-2/1 AA-3/1 AA-3/1 AA-3/1 AA-2/1',
	'Transport connection closed indication': '- AA-5/1 AA-4/1 AA-4/1 AA-4/1 AR-5/1',
	'ARTIM timer expired': '- AA-2/1 - - - AA-2/1',
	'Unrecognized or invalid PDU received': '- AA-1/13 AA-8/13 AA-8/13 AA-8/13 AA-7/13',
};

for (const [event, row] of Object.entries(standard) as [UpperLayerEvent, string][]) {
	test(`the state table is that of the standard: ${event}`, () => {
		const read = columns.map((state) => {
			const step = transition(state, event);
			return step === undefined ? '-' : `${step.action}/${step.next.slice(3)}`;
		});
		assert.equal(read.join(' '), row);
	});
}

test('every state and every action is reached', () => {
	const steps = columns.flatMap((state) => (Object.keys(standard) as UpperLayerEvent[]).flatMap((event) => transition(state, event) ?? []));
	assert.deepEqual([...new Set(steps.map(({ action }) => action))].sort(), Object.keys(actions).sort());
	assert.deepEqual([...new Set(steps.map(({ next }) => next))].sort(), Object.keys(states).sort());
});

/** The same table, the columns of the side that requests. */
const requestorColumns: RequestorState[] = ['Sta1', 'Sta4', 'Sta5', 'Sta6', 'Sta7', 'Sta8', 'Sta9', 'Sta11', 'Sta13'];
const requestorStandard: Record<RequestorEvent, string> = {
	'A-ASSOCIATE Request (local user)': 'AE-1/4 - - - - - - - -',
	'Transport Conn. Confirmation (local transport service)': '- AE-2/5 - - - - - - -',
	'A-ASSOCIATE-AC PDU': '- - AE-3/6 AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-6/13',
	'A-ASSOCIATE-RJ PDU': '- - AE-4/1 AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-6/13',
	'A-ASSOCIATE-RQ PDU': '- - AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-7/13',
	'P-DATA-TF PDU': '- - AA-8/13 DT-2/6 AR-6/7 AA-8/13 AA-8/13 AA-8/13 AA-6/13',
	'A-RELEASE Request primitive': '- - - AR-1/7 - - - - -',
	'A-RELEASE-RQ PDU': '- - AA-8/13 AR-2/8 AR-8/9 AA-8/13 AA-8/13 AA-8/13 AA-6/13',
	'A-RELEASE-RP PDU': '- - AA-8/13 AA-8/13 AR-3/1 AA-8/13 AA-8/13 AR-3/1 AA-6/13',
	'A-RELEASE Response primitive': '- - - - - AR-4/13 AR-9/11 - -',
	'A-ABORT Request primitive': '- AA-2/1 AA-1/13 AA-1/13 AA-1/13 AA-1/13 AA-1/13 AA-1/13 -',
	'A-ABORT PDU': '- - AA-3/1 AA-3/1 AA-3/1 AA-3/1 AA-3/1 AA-3/1 AA-2/1',
	'Transport connection closed indication': '- AA-4/1 AA-4/1 AA-4/1 AA-4/1 AA-4/1 AA-4/1 AA-4/1 AR-5/1',
	'ARTIM timer expired': '- - - - - - - - AA-2/1',
	'Unrecognized or invalid PDU received': '- - AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-8/13 AA-7/13',
};

for (const [event, row] of Object.entries(requestorStandard) as [RequestorEvent, string][]) {
	test(`the state table of the requestor is that of the standard: ${event}`, () => {
		const read = requestorColumns.map((state) => {
			const step = requestorTransition(state, event);
			return step === undefined ? '-' : `${step.action}/${step.next.slice(3)}`;
		});
		assert.equal(read.join(' '), row);
	});
}

test('every state and every action of the requestor is reached', () => {
	const events = Object.keys(requestorStandard) as RequestorEvent[];
	const steps = requestorColumns.flatMap((state) => events.flatMap((event) => requestorTransition(state, event) ?? []));
	assert.deepEqual([...new Set(steps.map(({ action }) => action))].sort(), Object.keys(requestorActions).sort());
	assert.deepEqual([...new Set(steps.map(({ next }) => next))].sort(), Object.keys(requestorStates).sort());
});
