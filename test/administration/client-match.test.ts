import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchClient, matchClientInput } from '#administration/client-match.ts';
import { addClient, setClient } from '#administration/clients.ts';
import { addSite, enableSite, setSite } from '#administration/sites.ts';
import { refused, type TestAdministration, withSite } from '#test/support/administration.ts';

type Answer = Awaited<ReturnType<typeof matchClient>>;

function asking({ context }: TestAdministration, visibleSites: 'all' | string[] = 'all') {
	return async (sender: object, outcome: Answer['outcome'], reason: RegExp): Promise<Answer> => {
		const answer = await matchClient({ ...context, visibleSites }, matchClientInput.parse(sender));
		assert.equal(answer.outcome, outcome, answer.reason);
		assert.match(answer.reason, reason);
		return answer;
	};
}

describe('would this sender match: a message', () => {
	test('the nearest client takes it; the answer names the site, the client and what it requires', () =>
		withSite(async (administration) => {
			const near = await administration.addClient('west', { name: 'near', allowed_ips: ['10.1.0.0/16'], sending_application: 'ADT' });
			const wide = await administration.addClient('west', { name: 'wide', allowed_ips: ['10.0.0.0/8'] });
			const ask = asking(administration);
			const first = await ask({ address: '10.1.2.3', sending_application: 'ADT' }, 'match', /MSH-3 is 'ADT'/);
			assert.deepEqual([first.site, first.client], ['west', { id: near.id, name: 'near' }]);
			const second = await ask({ address: '10.1.2.3', sending_application: 'LAB' }, 'match', /may have any value/);
			assert.deepEqual(second.client, { id: wide.id, name: 'wide' });
		}));

	test('or none: nobody’s address, other fields, a tie of sites, a disabled client, a disabled site', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const ask = asking(administration);
			await ask({ address: '10.0.0.1' }, 'no-address', /closed immediately/);
			const { id } = await administration.addClient('west', {
				allowed_ips: ['10.0.0.1'],
				sending_application: 'ADT',
				sending_facility: 'WEST',
			});
			await ask({ address: '10.0.0.1', sending_application: 'ADT' }, 'no-sender', /'sender' of west: MSH-3 is 'ADT' and MSH-4 is 'WEST'/);
			const sender = { address: '10.0.0.1', sending_application: 'ADT', sending_facility: 'WEST' };
			await addSite(context, { slug: 'east', name: 'East' });
			const other = { allowed_ips: ['10.0.0.1'], sending_application: 'ADT', sending_facility: 'WEST' };
			await administration.addClient('east', other);
			await ask(sender, 'tie', /equally well: east, west/);
			await enableSite(context, 'east', false);
			assert.equal((await ask(sender, 'match', /listed/)).site, 'west');
			await setClient(context, { id, active: false });
			await ask(sender, 'disabled', /'sender' of west matches, but is disabled|'sender' of east matches, but the site is disabled/);
			assert.throws(() => matchClientInput.parse({ address: 'pacs' }), /must be an IP address/);
		}));

	test('of other sites nothing is told', () =>
		withSite(async (administration) => {
			await addSite(administration.context, { slug: 'east', name: 'East' });
			await administration.addClient('east', { name: 'secret', allowed_ips: ['10.0.0.1', '10.1.0.1'] });
			await administration.addClient('west', { allowed_ips: ['10.0.0.1', '10.1.0.0/16'] });
			const ask = asking(administration, ['west']);
			for (const address of ['10.0.0.1', '10.1.0.1']) {
				const answer = await ask({ address }, 'another-site', /ask an administrator of all sites/);
				assert.ok(!JSON.stringify(answer).match(/east|secret/));
			}
			assert.deepEqual(
				await asking(administration, [])({ address: '10.0.0.1' }, 'no-address', /closed immediately/),
				await asking(administration, [])({ address: '192.0.2.1' }, 'no-address', /closed immediately/),
			);
		}));
});

describe('would this sender match: an association', () => {
	test('by called and calling AE title and address, or why not', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await setSite(context, { slug: 'west', ae_title: 'WEST' });
			const ask = asking(administration);
			const sender = { address: '10.0.0.1', called_ae: 'WEST', calling_ae: 'CT1' };
			await ask({ ...sender, called_ae: 'NOBODY' }, 'called-unknown', /no site has/);
			await ask(sender, 'calling-refused', /no DICOM client, so only loopback/);
			const near = await ask({ ...sender, address: '127.0.0.1' }, 'match', /accepts C-ECHO and C-STORE from loopback/);
			assert.deepEqual([near.site, near.client], ['west', null]);
			const modality = { site: 'west', name: 'CT', protocols: ['dicom'] as 'dicom'[], allowed_ips: ['10.0.0.1'], calling_ae: 'CT2' };
			const { id } = await addClient(context, { ...modality, grants: ['query'] });
			await ask(sender, 'calling-refused', /'CT': CT2/);
			await ask({ ...sender, address: '10.0.0.2', calling_ae: 'CT2' }, 'calling-refused', /no active DICOM client of west lists/);
			const found = await ask({ ...sender, called_ae: ' WEST ', calling_ae: 'CT2' }, 'match', /may send and query/);
			assert.deepEqual([found.site, found.client], ['west', { id, name: 'CT' }]);
			await asking(administration, [])({ ...sender, calling_ae: 'CT2' }, 'called-unknown', /no site has/);
			await setClient(context, { id, active: false });
			await ask({ ...sender, calling_ae: 'CT2' }, 'disabled', /'CT' of west matches, but is disabled/);
			await enableSite(context, 'west', false);
			await ask(sender, 'disabled', /belongs to west, which is disabled/);
			await assert.rejects(matchClient(context, { address: '10.0.0.1', calling_ae: 'CT1' }), { fault: 'form', field: 'called_ae' });
		}));
});

describe('an address from which another site accepts messages', () => {
	const manager = { name: 'm@example.org', role: 'manager' as const, sites: ['west'] };

	test('is for an administrator to give, in whatever width; for DICOM the called AE title decides', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite(context, { slug: 'east', name: 'East' });
			await administration.addClient('east', { allowed_ips: ['10.0.0.0/24', '2001:db8::1'] });
			const own = { ...context, actor: manager };
			const add = (name: string, ...allowed_ips: string[]) => addClient(own, { site: 'west', name, protocols: ['hl7-mllp'], allowed_ips });
			for (const address of ['10.0.0.7', '10.0.0.0/25', '10.0.0.0/8', '2001:db8::/32'])
				await refused(administration, () => add('x', '192.0.2.1', address), /another site accepts messages/);
			await refused(administration, () => add('x', '192.0.2.1', '::/0'), /stands for any source/);
			const { id } = await add('own', '10.0.1.0/24');
			await refused(administration, () => setClient(own, { id, allowed_ips: ['10.0.0.1'] }), /another site accepts messages/);
			await add('beside', '10.0.1.7');
			await addClient(own, { site: 'west', name: 'CT', protocols: ['dicom'], allowed_ips: ['10.0.0.7'] });
			await administration.addClient('west', { name: 'by an administrator', allowed_ips: ['10.0.0.7'] });
		}));
});
