import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createKey, listKeys, revokeKey, setKey, setKeyInput, showKey } from '#administration/keys.ts';
import { addSite, enableSite } from '#administration/sites.ts';
import { addUser } from '#administration/users.ts';
import { administeredAt, audited, refused, withSite } from '#test/support/administration.ts';

describe('keys', () => {
	test('a key is created and shown once; the database, the list and the audit trail do not hold it', () =>
		withSite(async (administration) => {
			const { context, rows } = administration;
			const [created, event] = await audited(administration, () =>
				createKey(context, { site: 'west', owner: 'Owner@example.org', label: 'reader' }),
			);
			const { id, key } = created;
			assert.deepEqual(created, { id, key, site: 'west', owner: 'owner@example.org', label: 'reader' });
			assert.deepEqual([event.action, event.subject, event.site], ['key.create', id, 'west']);
			assert.deepEqual(await listKeys({ ...context, visibleSites: ['west'] }), [
				{
					id,
					prefix: `trb_${id}`,
					site: 'west',
					owner: 'owner@example.org',
					label: 'reader',
					created_at: administeredAt,
					last_used_at: null,
					revoked_at: null,
				},
			]);
			const secret = key.slice(`trb_${id}_`.length);
			const kept = JSON.stringify([await rows('select * from api_key'), await rows('select * from audit_event')]);
			assert.ok(!kept.includes(secret) && kept.includes(id));
		}));

	test('the list is of one site, or of all', () =>
		withSite(async ({ context }) => {
			await addSite(context, { slug: 'east', name: 'East' });
			await addUser(context, { email: 'admin@example.org', admin: true, sites: [] });
			for (const site of ['west', 'east', 'east']) await createKey(context, { site, owner: 'admin@example.org', label: '' });
			const of = (site: string) => ({ ...context, visibleSites: [site] });
			const counts = [await listKeys(context), await listKeys(of('east')), await listKeys(of('nowhere'))].map(({ length }) => length);
			assert.deepEqual(counts, [3, 2, 0]);
		}));

	test('an owner who is not a user of the site is refused; an administrator is a user of all', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite(context, { slug: 'east', name: 'East' });
			await refused(
				administration,
				() => createKey(context, { site: 'east', owner: 'owner@example.org', label: '' }),
				/is not a user of the site/,
			);
			await addUser(context, { email: 'admin@example.org', admin: true, sites: [] });
			assert.equal((await createKey(context, { site: 'east', owner: 'admin@example.org', label: '' })).site, 'east');
		}));

	test('a manager gives keys to users of the site alone, and does not learn who else there is', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite(context, { slug: 'east', name: 'East' });
			await addUser(context, { email: 'admin@example.org', admin: true, sites: [] });
			await addUser(context, { email: 'other@example.org', sites: ['east'] });
			const manager = { ...context, actor: { name: 'm@example.org', role: 'manager' as const, sites: ['west'] } };
			for (const owner of ['admin@example.org', 'other@example.org', 'nobody@example.org']) {
				const create = () => createKey(manager, { site: 'west', owner, label: '' });
				await refused(administration, create, new RegExp(`^'${owner}' is not a user of the site 'west'$`));
			}
			assert.equal((await createKey(manager, { site: 'west', owner: 'owner@example.org', label: '' })).owner, 'owner@example.org');
		}));

	test('a key has a label and settings, which the audit trail tells; an empty value removes', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const input = { site: 'west', owner: 'owner@example.org', label: 'x', also: ['A03'] };
			const [{ id }, added] = await audited(administration, () => createKey(context, input));
			assert.deepEqual(added.detail, { after: { site: 'west', owner: 'owner@example.org', label: 'x', also: ['A03'] } });
			const [changed, event] = await audited(administration, () => setKey(context, { id, label: 'y', default_authority: 'urn:oid:2' }));
			assert.deepEqual([changed.label, changed.also, changed.default_authority], ['y', ['A03'], 'urn:oid:2']);
			assert.deepEqual(changed.settings['also'], { value: ['A03'], from: 'key' });
			assert.deepEqual([event.action, event.subject, event.site], ['key.set', id, 'west']);
			assert.deepEqual(event.detail, { before: { label: 'x' }, after: { label: 'y', default_authority: 'urn:oid:2' } });
			const emptied = await setKey(context, { id, also: [], default_authority: '' });
			assert.deepEqual([emptied.also, emptied.default_authority], [undefined, undefined]);
			assert.deepEqual((await showKey(context, id)).settings['also'], { value: [], from: 'default' });
			await refused(administration, () => setKey(context, { id: 'nokey', label: '' }), /there is no key 'nokey'/);
			for (const wrong of [{ also: ['x'] }, { ack_mode: 'enhanced' }, { default_authority: 'HOSP' }]) {
				assert.equal(setKeyInput.safeParse({ id, ...wrong }).success, false);
			}
		}));

	test('a disabled site gets no new key', () =>
		withSite(async (administration) => {
			await enableSite(administration.context, 'west', false);
			await refused(
				administration,
				() => createKey(administration.context, { site: 'west', owner: 'owner@example.org', label: '' }),
				/disabled/,
			);
		}));

	test('a key is revoked; revoked again it keeps the time of the first', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const { id } = await createKey(context, { site: 'west', owner: 'owner@example.org', label: '' });
			const [revoked, event] = await audited(administration, () => revokeKey(context, id));
			assert.equal(revoked.revoked_at, administeredAt);
			assert.deepEqual([event.action, event.subject, event.site], ['key.revoke', id, 'west']);
			assert.deepEqual(event.detail, { before: { revoked_at: null }, after: { revoked_at: administeredAt } });
			const later = { ...context, nowMs: () => Date.parse(administeredAt) + 60_000 };
			assert.equal((await revokeKey(later, id)).revoked_at, administeredAt);
			await refused(administration, () => revokeKey(context, 'nokey'), /there is no key 'nokey'/);
		}));
});
