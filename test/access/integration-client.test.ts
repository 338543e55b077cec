import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClientIndex } from '#access/client-index.ts';
import { type IntegrationClient, rangesOf } from '#access/integration-client.ts';

interface Row {
	id: string;
	site?: string;
	from: string[];
	application?: string;
	facility?: string;
	createdAt?: string;
}

function client(
	{ id, site = 'west', from, application, facility, createdAt = '2026-01-01T00:00:00.000Z' }: Row,
	anySource = false,
): IntegrationClient {
	return {
		grant: {
			clientId: id,
			siteId: site,
			siteSlug: site,
			settings: {},
		},
		protocols: ['hl7-mllp'],
		ranges: rangesOf(from, anySource),
		sendingApplication: application,
		sendingFacility: facility,
		createdAt,
	};
}

interface Case {
	name: string;
	clients: Row[];
	anySource?: boolean;
	from?: string;
	msh?: readonly [application: string, facility: string];
	/** The id of the client, or why there is none. */
	expected: string;
}

const cases: Case[] = [
	{ name: 'one client, its address, MSH not checked', clients: [{ id: 'a', from: ['10.0.0.1'] }], expected: 'a' },
	{ name: 'an address that no client lists', clients: [{ id: 'a', from: ['10.0.0.2'] }], expected: 'no-address' },
	{ name: 'no clients at all', clients: [], expected: 'no-address' },
	{ name: 'a mapped address is its IPv4 address', clients: [{ id: 'a', from: ['10.0.0.1'] }], from: '::ffff:10.0.0.1', expected: 'a' },
	{ name: 'what is no address', clients: [{ id: 'a', from: ['10.0.0.0/8'] }], from: 'west', expected: 'no-address' },
	{ name: 'the application fits', clients: [{ id: 'a', from: ['10.0.0.1'], application: 'ADT' }], expected: 'a' },
	{ name: 'the application does not fit', clients: [{ id: 'a', from: ['10.0.0.1'], application: 'LAB' }], expected: 'no-sender' },
	{
		name: 'the facility does not fit',
		clients: [{ id: 'a', from: ['10.0.0.1'], application: 'ADT', facility: 'EAST' }],
		expected: 'no-sender',
	},
	{ name: 'upper and lower case differ', clients: [{ id: 'a', from: ['10.0.0.1'], application: 'adt' }], expected: 'no-sender' },
	{
		name: 'an empty MSH-3 is no ADT',
		clients: [{ id: 'a', from: ['10.0.0.1'], application: 'ADT' }],
		msh: ['', ''],
		expected: 'no-sender',
	},
	{
		name: 'a single address before a range',
		clients: [
			{ id: 'range', site: 'east', from: ['10.0.0.0/24'] },
			{ id: 'single', from: ['10.0.0.1'] },
		],
		expected: 'single',
	},
	{
		name: 'the longer prefix before both MSH fields, which are the word of the sender',
		clients: [
			{ id: 'fields', site: 'east', from: ['10.0.0.0/24'], application: 'ADT', facility: 'WEST' },
			{ id: 'prefix', from: ['10.0.0.0/25'] },
		],
		expected: 'prefix',
	},
	{
		name: 'the longer prefix whose MSH does not fit leaves the message to the shorter one',
		clients: [
			{ id: 'long', site: 'east', from: ['10.0.0.1'], application: 'LAB' },
			{ id: 'short', from: ['10.0.0.0/8'] },
		],
		expected: 'short',
	},
	{
		name: 'of several ranges of one client the longest counts',
		clients: [
			{ id: 'several', from: ['10.0.0.0/8', '10.0.0.1', '192.0.2.0/24'] },
			{ id: 'one', site: 'east', from: ['10.0.0.0/30'] },
		],
		expected: 'several',
	},
	{
		name: 'both fields before one',
		clients: [
			{ id: 'one', site: 'east', from: ['10.0.0.1'], application: 'ADT' },
			{ id: 'both', from: ['10.0.0.1'], application: 'ADT', facility: 'WEST' },
		],
		expected: 'both',
	},
	{
		name: 'one field before none',
		clients: [
			{ id: 'none', site: 'east', from: ['10.0.0.1'] },
			{ id: 'one', from: ['10.0.0.1'], facility: 'WEST' },
		],
		expected: 'one',
	},
	{
		name: 'equally specific clients of two sites tie',
		clients: [
			{ id: 'a', from: ['10.0.0.1'] },
			{ id: 'b', site: 'east', from: ['10.0.0.1'] },
		],
		expected: 'tie',
	},
	{
		name: 'the application of one and the facility of the other tie',
		clients: [
			{ id: 'a', from: ['10.0.0.1'], application: 'ADT' },
			{ id: 'b', site: 'east', from: ['10.0.0.1'], facility: 'WEST' },
		],
		expected: 'tie',
	},
	{
		name: 'a tie below the best one is none',
		clients: [
			{ id: 'a', from: ['10.0.0.0/8'] },
			{ id: 'b', site: 'east', from: ['10.0.0.0/8'] },
			{ id: 'c', site: 'north', from: ['10.0.0.1'] },
		],
		expected: 'c',
	},
	{
		name: 'within one site the older client',
		clients: [
			{ id: 'a', from: ['10.0.0.1'], createdAt: '2026-02-01T00:00:00.000Z' },
			{ id: 'b', from: ['10.0.0.1'], createdAt: '2026-01-01T00:00:00.000Z' },
		],
		expected: 'b',
	},
	{
		name: 'within one site, of the same age, the lower id',
		clients: [
			{ id: 'b', from: ['10.0.0.1'] },
			{ id: 'a', from: ['10.0.0.1'] },
		],
		expected: 'a',
	},
	{ name: '* without the policy is nobody', clients: [{ id: 'a', from: ['*'] }], expected: 'no-address' },
	{ name: '* under the policy is anybody', clients: [{ id: 'a', from: ['*'] }], anySource: true, from: '2001:db8::1', expected: 'a' },
	{
		name: '* is the least specific of all',
		clients: [
			{ id: 'any', site: 'east', from: ['*'], application: 'ADT', facility: 'WEST' },
			{ id: 'one', from: ['10.0.0.0/1'] },
		],
		anySource: true,
		expected: 'one',
	},
	{ name: 'an entry that is no address is left out', clients: [{ id: 'a', from: ['10.1', '10.0.0.1'] }], expected: 'a' },
];

describe('the client that a message belongs to', () => {
	for (const { name, clients, anySource, from = '10.0.0.1', msh = ['ADT', 'WEST'] as const, expected } of cases) {
		test(name, () => {
			const rows = clients.map((row) => client(row, anySource));
			// The order of rows decides nothing.
			for (const order of [rows, rows.toReversed()]) {
				const index = new ClientIndex(order);
				const match = index.match(from, msh[0], msh[1]);
				assert.equal(match.kind === 'match' ? match.grant.clientId : match.kind, expected);
				assert.equal(index.mayConnect(from), expected !== 'no-address');
			}
		});
	}
});
