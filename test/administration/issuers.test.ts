import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AdministrationContext } from '#administration/context.ts';
import { addIssuer, listIssuers, removeIssuer, setIssuer, showIssuer } from '#administration/issuers.ts';
import { addSite } from '#administration/sites.ts';
import { addUser } from '#administration/users.ts';
import { targetPolicy } from '#core/target-policy.ts';
import { administeredAt, audited, refused, type TestAdministration, withSite } from '#test/support/administration.ts';

const owner = 'owner@example.org';
const given = {
	site: 'west',
	owner,
	issuer: 'https://login.example.org/realms/west',
	audience: 'https://tributary.example.org/fhir',
	clients: ['export', 'registry', 'export'],
};
const introspection = {
	introspection_url: 'https://login.example.org/introspect',
	introspection_client: 'tributary',
	introspection_secret: 'a secret of the provider',
};
const none = {
	...{ jwks_url: null, token_endpoint: null, client_claim: null, scope_claim: null, site_claim: null, site_value: null },
	...{ introspection_url: null, introspection_client: null },
};

function asManager({ context }: TestAdministration, ...sites: string[]): AdministrationContext {
	return { ...context, actor: { name: 'test', role: 'manager', sites }, visibleSites: sites };
}

async function withSites(work: (administration: TestAdministration) => Promise<void>): Promise<void> {
	await withSite(async (administration) => {
		await addSite(administration.context, { slug: 'east', name: 'East' });
		await addUser(administration.context, { email: 'eastern@example.org', admin: false, sites: ['east'] });
		await work(administration);
	});
}

const eastern = { ...given, site: 'east', owner: 'eastern@example.org' };

describe('issuers of access tokens', () => {
	test('are added, changed, listed and removed, each with an audit event', () =>
		withSites(async (administration) => {
			const { context } = administration;
			const [added, event] = await audited(administration, () => addIssuer(context, { ...given, label: 'sign-on' }));
			const record = {
				...given,
				...none,
				id: added.id,
				label: 'sign-on',
				clients: ['export', 'registry'],
				active: true,
				created_at: administeredAt,
			};
			assert.deepEqual(added, record);
			assert.deepEqual([event.action, event.subject, event.site, event.detail['after']], ['issuer.add', added.id, 'west', record]);
			const [changed, change] = await audited(administration, () =>
				setIssuer(context, {
					id: added.id,
					clients: ['registry'],
					site_claim: 'tenant',
					site_value: 'west',
					jwks_url: 'http://127.0.0.1:9/',
				}),
			);
			assert.deepEqual(changed, {
				...record,
				clients: ['registry'],
				site_claim: 'tenant',
				site_value: 'west',
				jwks_url: 'http://127.0.0.1:9/',
			});
			assert.equal(change.action, 'issuer.set');
			await setIssuer(context, { id: added.id, clients: ['export', 'registry'], site_claim: '', site_value: '', jwks_url: '' });
			assert.deepEqual(await showIssuer(context, added.id), record);
			assert.deepEqual(await listIssuers({ ...context, visibleSites: ['west'] }), [record]);
			assert.deepEqual(await listIssuers({ ...context, visibleSites: ['east'] }), []);
			const [, disabled] = await audited(administration, () => setIssuer(context, { id: added.id, active: false }));
			assert.equal(disabled.action, 'issuer.disable');
			const [, removed] = await audited(administration, () => removeIssuer(context, added.id));
			assert.deepEqual([removed.action, await listIssuers(context)], ['issuer.remove', []]);
		}));

	test('that would take tokens of another row are refused, and the other site is named to those who may know it', () =>
		withSites(async (administration) => {
			const { context } = administration;
			const first = await addIssuer(context, given);
			await refused(administration, () => addIssuer(context, eastern), /the site 'west' takes the same tokens/);
			await refused(administration, () => addIssuer(asManager(administration, 'east'), eastern), /^another site takes the same tokens/);
			await refused(administration, () => addIssuer(context, given), /takes the same tokens/);
			const byAudience = await addIssuer(context, { ...eastern, audience: 'https://east.example.org' });
			await refused(administration, () => setIssuer(context, { id: byAudience.id, audience: given.audience }), /takes the same tokens/);
			await addIssuer(context, { ...eastern, clients: ['viewer'] });
			await addIssuer(context, { ...eastern, issuer: 'https://login.example.org/realms/east' });
			await refused(administration, () => addIssuer(context, { ...eastern, site_claim: 'tenant', site_value: 'east' }), /the same tokens/);
			await setIssuer(context, { id: first.id, site_claim: 'tenant', site_value: 'west' });
			await refused(administration, () => addIssuer(context, { ...eastern, site_claim: 'tenant', site_value: 'west' }), /the same tokens/);
			await addIssuer(context, { ...eastern, site_claim: 'tenant', site_value: 'east' });
		}));

	test('have one introspection endpoint in the network, whose secret nothing shows', () =>
		withSites(async (administration) => {
			const { context, rows } = administration;
			const { introspection_secret: secret, ...shown } = introspection;
			await refused(
				administration,
				() => addIssuer(asManager(administration, 'west'), { ...given, ...introspection }),
				/only an administrator/,
			);
			await refused(administration, () => addIssuer(context, { ...given, ...shown }), /belong together/);
			const first = await addIssuer(context, { ...given, ...introspection });
			assert.deepEqual(first, { ...first, ...shown });
			const more = { ...eastern, clients: ['viewer'] };
			await refused(
				administration,
				() => addIssuer(context, { ...more, ...introspection, introspection_url: 'https://other.example.org/' }),
				/introspected at another URL/,
			);
			await addIssuer(context, { ...more, ...introspection });
			await setIssuer(context, { id: first.id, introspection_secret: 'a newer secret' });
			const secrets = await rows<{ introspection_secret: string }>('select introspection_secret from token_issuer');
			assert.deepEqual([...new Set(secrets.map(({ introspection_secret }) => introspection_secret))], ['a newer secret']);
			const told = JSON.stringify([await listIssuers(context), await rows('select * from audit_event')]);
			assert.ok(!told.includes(secret) && !told.includes('newer') && told.includes('introspect'));
		}));

	test('are refused at a loopback, link-local or metadata address, and the field is named', () =>
		withSites(async (administration) => {
			const { id } = await addIssuer(administration.context, given);
			const context = { ...administration.context, targets: targetPolicy([], '0.0.0.0') };
			const guarded = /is a loopback, link-local or metadata address, and ALLOWED_TARGETS does not permit it/;
			const faults: [string, string][] = [
				['issuer', 'http://127.0.0.1:9'],
				['issuer', 'https://[::1]/realms/west'],
				['jwks_url', 'https://169.254.169.254/latest/meta-data'],
				['jwks_url', 'https://[::ffff:169.254.169.254]/'],
				['jwks_url', 'https://0x7f.1/'],
				['introspection_url', 'https://100.100.100.200/'],
			];
			for (const [field, url] of faults) {
				const input = field === 'introspection_url' ? { ...introspection, [field]: url } : { [field]: url };
				for (const act of [() => addIssuer(context, { ...given, ...input }), () => setIssuer(context, { id, ...input })]) {
					await refused(administration, act, guarded);
					await assert.rejects(act, { fault: 'refused', field });
				}
			}
			// An older row at such an address can still be disabled.
			await setIssuer(administration.context, { id, jwks_url: 'http://127.0.0.1:9/' });
			assert.equal((await setIssuer(context, { id, active: false })).active, false);
		}));

	test('are of an owner who is a user of the site', () =>
		withSites(async (administration) => {
			await refused(
				administration,
				() => addIssuer(administration.context, { ...given, owner: 'eastern@example.org' }),
				/is not a user of the site/,
			);
			const { id } = await addIssuer(administration.context, given);
			await refused(
				administration,
				() => setIssuer(administration.context, { id, owner: 'eastern@example.org' }),
				/is not a user of the site/,
			);
			await refused(administration, () => setIssuer(administration.context, { id, site_claim: 'tenant' }), /belong together/);
			await refused(administration, () => showIssuer(administration.context, 'none'), /there is no issuer/);
		}));
});
