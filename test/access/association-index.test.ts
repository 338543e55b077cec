import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AssociationIndex, type DicomClient } from '#access/association-index.ts';
import { rangesOf } from '#access/integration-client.ts';

const site = (aeTitle: string, hasClients: boolean) => ({
	siteId: `id of ${aeTitle}`,
	siteSlug: aeTitle.toLowerCase(),
	aeTitle,
	hasClients,
	settings: {},
});
const client = (clientId: string, ips: string[], callingAe?: string, more: Partial<DicomClient> = {}): DicomClient => ({
	clientId,
	settings: {},
	siteId: 'id of WEST',
	ranges: rangesOf(ips, true),
	callingAe,
	grants: new Set(),
	createdAt: '2026-01-01',
	...more,
});
const index = (clients: DicomClient[], allowAnySource = false) =>
	new AssociationIndex([site('WEST', true), site('EAST', false)], clients, allowAnySource);
const clientOf = (match: ReturnType<AssociationIndex['match']>) => (match.kind === 'accepted' ? match.clientId : match.kind);

describe('who may send over DIMSE', () => {
	test('a called AE title that no site has is unknown, in other letters too', () => {
		for (const called of ['NORTH', 'west', '']) assert.equal(index([]).match(called, 'CT', '127.0.0.1').kind, 'called-unknown');
	});

	test('a site without clients takes from loopback alone, or from anywhere under the policy', () => {
		for (const address of ['127.0.0.1', '127.9.9.9', '::1']) {
			assert.deepEqual(index([]).match('EAST', 'CT', address), {
				kind: 'accepted',
				siteId: 'id of EAST',
				siteSlug: 'east',
				clientId: undefined,
				settings: {},
				grants: new Set(),
			});
		}
		for (const address of ['10.0.0.1', '2001:db8::1', '::2', 'nowhere'])
			assert.equal(index([]).match('EAST', 'CT', address).kind, 'calling-refused');
		assert.equal(index([], true).match('EAST', 'CT', '10.0.0.1').kind, 'accepted');
	});

	test('a site whose clients are all switched off takes nothing, from loopback either', () => {
		assert.equal(index([], true).match('WEST', 'CT', '127.0.0.1').kind, 'calling-refused');
	});

	test('address and calling AE title have to fit', () => {
		const match = (calling: string, address: string) => index([client('a', ['10.0.0.0/8'], 'CT')]).match('WEST', calling, address);
		assert.equal(clientOf(match('CT', '10.1.1.1')), 'a');
		assert.equal(match('MR', '10.1.1.1').kind, 'calling-refused');
		assert.equal(match('CT', '11.1.1.1').kind, 'calling-refused');
		assert.equal(match('CT', '127.0.0.1').kind, 'calling-refused');
	});

	test('the longer prefix wins, then a calling AE title, then age', () => {
		const clients = [
			client('any', ['*']),
			client('net', ['10.0.0.0/8'], 'CT'),
			client('younger', ['10.1.1.1'], undefined, { createdAt: '2026-02-01' }),
			client('older', ['10.1.1.1'], undefined, { grants: new Set(['query']) }),
			client('named', ['10.1.1.1'], 'MR'),
		];
		assert.equal(clientOf(index(clients).match('WEST', 'US', '192.0.2.1')), 'any');
		assert.equal(clientOf(index(clients).match('WEST', 'CT', '10.2.2.2')), 'net');
		assert.equal(clientOf(index(clients).match('WEST', 'MR', '10.1.1.1')), 'named');
		const match = index(clients).match('WEST', 'CT', '10.1.1.1');
		assert.equal(clientOf(match), 'older');
		assert.ok(match.kind === 'accepted' && match.grants.has('query'));
	});

	test('the clients of another site do not count', () => {
		assert.equal(index([client('a', ['*'], undefined, { siteId: 'id of EAST' })]).match('WEST', 'CT', '10.0.0.1').kind, 'calling-refused');
	});
});
