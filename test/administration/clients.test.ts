import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
	addClient,
	addClientInput,
	type ClientRecord,
	listClients,
	removeClient,
	setClient,
	setClientInput,
	showClient,
} from '#administration/clients.ts';
import { addSite, setSite } from '#administration/sites.ts';
import { audited, refused, type TestAdministration, withSite } from '#test/support/administration.ts';

describe('integration clients', () => {
	const whole = {
		site: 'west',
		name: 'Admission',
		protocols: ['hl7-mllp', 'dicom'] as ('hl7-mllp' | 'dicom')[],
		allowed_ips: ['10.0.0.1', '10.1.0.0/16', '2001:db8::/32'],
		sending_application: 'ADT',
		sending_facility: 'WEST',
		calling_ae: 'MODALITY',
		ack_mode: 'enhanced' as const,
		also: ['A03'],
		ignore: ['A60'],
		grants: ['query'] as 'query'[],
	};

	test('a client is added with everything, shown and listed', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const [client, event] = await audited(administration, () => addClient(context, whole));
			const { settings, ...listed } = client;
			assert.deepEqual(listed, { id: client.id, ...whole, active: true });
			assert.deepEqual(settings['also'], { value: ['A03'], from: 'client' });
			assert.deepEqual([event.action, event.subject, event.site], ['client.add', client.id, 'west']);
			assert.deepEqual(await showClient(context, client.id), client);
			assert.deepEqual(await listClients({ ...context, visibleSites: ['west'] }), [listed]);
			assert.deepEqual(await listClients(context), [listed]);
			assert.deepEqual(await listClients({ ...context, visibleSites: ['east'] }), []);
		}));

	test('a client is added with what is needed alone', () =>
		withSite(async ({ context }) => {
			const input = { site: 'west', name: 'Lab', protocols: ['hl7-mllp' as const], allowed_ips: ['10.0.0.1'] };
			const { settings, ...client } = await addClient(context, input);
			assert.deepEqual(settings['ack_mode'], { value: 'original', from: 'default' });
			assert.deepEqual(client, {
				id: client.id,
				site: 'west',
				name: 'Lab',
				protocols: ['hl7-mllp'],
				allowed_ips: ['10.0.0.1'],
				sending_application: null,
				sending_facility: null,
				calling_ae: null,
				ack_mode: 'original',
				also: [],
				ignore: [],
				grants: [],
				active: true,
			});
		}));

	test('a name is taken once a site', () =>
		withSite(async (administration) => {
			await addSite(administration.context, { slug: 'east', name: 'East' });
			await administration.addClient('west');
			await administration.addClient('east');
			await refused(administration, () => administration.addClient('west'), /already has a client 'sender'/);
		}));

	test('a name that is taken is refused to another client, not to its own', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await administration.addClient('west');
			const other = await administration.addClient('west', { name: 'other' });
			await refused(administration, () => setClient(context, { id: other.id, name: 'sender' }), /already has a client 'sender'/);
			assert.equal((await setClient(context, { id: other.id, name: 'other' })).name, 'other');
		}));

	test('any source is refused while the policy is off, when adding and when changing', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const { id } = await administration.addClient('west');
			await refused(administration, async () => administration.addClient('west', { name: 'any', allowed_ips: ['*'] }), /ALLOW_ANY_SOURCE/);
			for (const wide of ['*', '0.0.0.0/0', '::/0', '10.0.0.0/7', '2000::/15', '::ffff:0.0.0.0/96']) {
				await refused(administration, async () => setClient(context, { id, allowed_ips: ['10.0.0.1', wide] }), /ALLOW_ANY_SOURCE/);
			}
			const widest = ['10.0.0.0/8', '2001::/16'];
			assert.deepEqual((await setClient(context, { id, allowed_ips: widest })).allowed_ips, widest);
			const changed = await setClient({ ...context, allowAnySource: true }, { id, allowed_ips: ['*'] });
			assert.deepEqual(changed.allowed_ips, ['*']);
		}));

	describe('addresses that another site has', () => {
		/** Sites `west` and `east`, an administrator of both and a manager of `west`. */
		const both = (work: (given: { administration: TestAdministration; manager: TestAdministration['context'] }) => Promise<void>) =>
			withSite(async (administration) => {
				await addSite(administration.context, { slug: 'east', name: 'Eastern Secret' });
				const manager = { ...administration.context, actor: { name: 'm', role: 'manager' as const, sites: ['west'] } };
				await work({ administration, manager });
			});
		const client = (site: string, ip: string, more: object = {}) => ({
			...{ site, name: `${site} ${ip}`, protocols: ['hl7-mllp' as const], allowed_ips: [ip] },
			...more,
		});

		for (const [first, second] of [
			['10.1.2.3', '10.1.0.0/16'],
			['10.1.0.0/16', '10.1.2.3'],
			['10.1.2.3', '10.1.2.3'],
			['10.1.2.3', '::ffff:10.1.2.3'],
			['::ffff:10.1.0.0/112', '10.1.2.3'],
			['2001:db8::/32', '2001:db8::7'],
		] as const) {
			test(`are asked about in both orders: ${first}, then ${second}`, () =>
				both(async ({ administration, manager }) => {
					const { context } = administration;
					await addClient(manager, client('west', first));
					const overlap = new RegExp(`'${second.replaceAll('.', '\\.')}' and '[^']+' of 'west [^']+' \\(west\\)`);
					await assert.rejects(addClient(context, client('east', second)), {
						fault: 'conflict',
						field: 'confirm_overlap',
						message: overlap,
					});
					const { id } = await addClient(context, client('east', '192.0.2.1'));
					await assert.rejects(setClient(context, { id, allowed_ips: ['192.0.2.1', second] }), { fault: 'conflict' });
					const changed = await setClient(context, { id, allowed_ips: ['192.0.2.1', second], confirm_overlap: true });
					assert.deepEqual(changed.allowed_ips, ['192.0.2.1', second]);
					assert.equal((await setClient(context, { id, name: 'renamed' })).name, 'renamed', 'what was confirmed is not asked again');
				}));

			test(`are refused to a manager, who learns nothing of the other site and cannot confirm: ${second}`, () =>
				both(async ({ administration, manager }) => {
					await addClient(administration.context, client('east', first));
					for (const confirm_overlap of [false, true])
						await assert.rejects(addClient(manager, client('west', second, { confirm_overlap })), (error: Error) => {
							assert.match(error.message, /needs an administrator of all sites/);
							assert.doesNotMatch(error.message.replaceAll(second, ''), /east|secret|10\.1|2001/i);
							return (error as { fault?: string }).fault === 'forbidden';
						});
				}));
		}

		test('are not asked about where no message fits both, nor for DICOM, nor within a site', () =>
			both(async ({ administration: { context } }) => {
				await addClient(context, client('west', '10.1.2.3', { sending_facility: 'WEST' }));
				await addClient(context, client('east', '10.1.2.3', { sending_facility: 'EAST' }));
				await addClient(context, client('west', '10.1.2.0/24', { sending_facility: 'WEST' }));
				await addClient(context, client('east', '10.1.2.3', { name: 'CT', protocols: ['dicom'] }));
				const { id } = await addClient(context, client('east', '192.0.2.1'));
				await assert.rejects(addClient(context, client('west', '192.0.2.0/24', { sending_facility: 'WEST' })), { fault: 'conflict' });
				await assert.rejects(setClient(context, { id, allowed_ips: ['10.1.2.4'] }), { fault: 'conflict' });
			}));

		test('are asked about when MSH fields no longer tell them apart, and when HL7 is added', () =>
			both(async ({ administration: { context } }) => {
				await addClient(context, client('west', '10.1.2.3', { sending_facility: 'WEST' }));
				const east = await addClient(context, client('east', '10.1.2.3', { sending_facility: 'EAST' }));
				await assert.rejects(setClient(context, { id: east.id, sending_facility: '' }), { fault: 'conflict' });
				const modality = await addClient(context, client('east', '10.1.2.3', { name: 'CT', protocols: ['dicom'] }));
				await assert.rejects(setClient(context, { id: modality.id, protocols: ['dicom', 'hl7-mllp'] }), { fault: 'conflict' });
			}));

		test('are seen by the second of two that are added at the same time', () =>
			both(async ({ administration: { context } }) => {
				const settled = await Promise.allSettled([
					addClient(context, client('west', '10.1.2.3')),
					addClient(context, client('east', '10.1.0.0/16')),
				]);
				assert.deepEqual(settled.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
			}));
	});

	test('each setting is changed by itself; an empty value removes', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const { settings: _settings, ...added } = await addClient(context, whole);
			let expected: ClientRecord = added;
			const changes: Partial<typeof expected>[] = [
				{ name: 'Renamed' },
				{ protocols: ['hl7-mllp'] },
				{ allowed_ips: ['192.0.2.1'] },
				{ sending_application: null },
				{ sending_facility: null },
				{ calling_ae: null },
				{ ack_mode: 'original' },
				{ also: [] },
				{ ignore: ['A61', 'A62'] },
				{ grants: [] },
				{ active: false },
			];
			for (const change of changes) {
				const given = Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? '']));
				const [changed, event] = await audited(administration, () =>
					setClient(context, setClientInput.parse({ id: expected.id, ...given })),
				);
				expected = { ...expected, ...change };
				const { settings: _inForce, ...kept } = changed;
				assert.deepEqual(kept, expected);
				assert.deepEqual([event.action, event.subject, event.site], ['client.set', expected.id, 'west']);
				assert.deepEqual(await showClient(context, expected.id), changed);
			}
		}));

	test('a client is removed; the audit event keeps what it was', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const { settings: _settings, ...client } = await administration.addClient('west');
			const [removed, event] = await audited(administration, () => removeClient(context, client.id));
			assert.deepEqual(removed, client);
			assert.deepEqual([event.action, event.site, event.detail], ['client.remove', 'west', { before: client }]);
			assert.deepEqual(await listClients(context), []);
		}));

	test('a client that is not there is refused, also when the id is none', () =>
		withSite(async (administration) => {
			const { context } = administration;
			for (const id of ['0199c0de-0000-7000-8000-000000000001', 'x', '']) {
				await refused(administration, () => showClient(context, id), /there is no integration client/);
				await refused(administration, () => setClient(context, { id, active: false }), /there is no integration client/);
				await refused(administration, () => removeClient(context, id), /there is no integration client/);
			}
		}));

	test('the value of a client holds, else that of its site, else the default; each says where it comes from', () =>
		withSite(async ({ context }) => {
			await setSite(context, { slug: 'west', default_authority: 'urn:oid:1', also: ['A11'], ignore: ['A60'] });
			const input = { site: 'west', name: 'Lab', protocols: ['hl7-mllp' as const], allowed_ips: ['10.0.0.1'], also: ['A03'] };
			const { id, settings } = await addClient(context, input);
			const { default_authority, ack_mode, also, ignore } = settings;
			assert.deepEqual(
				{ default_authority, ack_mode, also, ignore },
				{
					default_authority: { value: 'urn:oid:1', from: 'site' },
					ack_mode: { value: 'original', from: 'default' },
					also: { value: ['A03'], from: 'client' },
					ignore: { value: ['A60'], from: 'site' },
				},
			);
			const changed = await setClient(context, { id, default_authority: 'urn:oid:2', also: [] });
			assert.deepEqual([changed.default_authority, changed.settings['default_authority']?.from], ['urn:oid:2', 'client']);
			assert.deepEqual(changed.settings['also'], { value: ['A11'], from: 'site' });
			const removed = await setClient(context, { id, default_authority: '' });
			assert.deepEqual(removed.settings['default_authority'], { value: 'urn:oid:1', from: 'site' });
		}));

	const wrong: [string, object][] = [
		['no protocol', { protocols: [] }],
		['an unknown protocol', { protocols: ['ftp'] }],
		['no address', { allowed_ips: [] }],
		['what is no address', { allowed_ips: ['10.1'] }],
		['a host name', { allowed_ips: ['pacs.example.org'] }],
		['an event that is none', { also: ['ADT'] }],
		['a type without an event', { ignore: ['ORM'] }],
		['an authority that is no URI', { default_authority: 'HOSP' }],
		['an unknown grant', { grants: ['everything'] }],
		['an unknown acknowledgement mode', { ack_mode: 'loud' }],
		['a calling AE title of 17 characters', { calling_ae: 'A'.repeat(17) }],
	];
	for (const [name, input] of wrong) {
		test(`${name} is no input`, () => {
			assert.equal(
				addClientInput.safeParse({ site: 'west', name: 'x', protocols: ['hl7-mllp'], allowed_ips: ['10.0.0.1'], ...input }).success,
				false,
			);
			assert.equal(setClientInput.safeParse({ id: 'x', ...input }).success, false);
		});
	}
});
