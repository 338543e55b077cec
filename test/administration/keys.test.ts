import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createKey, listKeys, revokeKey, rotateKey, setKey, setKeyInput, showKey } from '#administration/keys.ts';
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

	test('a key ends at an instant, after a day or after a time; the past is refused', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const ending = (expires: string) => createKey(context, { site: 'west', owner: 'owner@example.org', label: '', expires });
			assert.equal((await ending('2026-03-31')).expires_at, '2026-04-01T00:00:00.000Z');
			assert.equal((await ending('2026-03-01T12:00:00+01:00')).expires_at, '2026-03-01T11:00:00.000Z');
			const { id, expires_at: expires } = await ending('90d');
			assert.equal(expires, '2026-05-30T10:00:00.000Z');
			await refused(administration, () => ending('2026-02-28'), /expires: lies in the past/);
			assert.deepEqual((await setKey(context, { id, expires: '' })).expires_at, undefined);
			for (const wrong of ['soon', '7', '7w', '-1d']) assert.equal(setKeyInput.safeParse({ id, expires: wrong }).success, false, wrong);
			assert.equal(setKeyInput.safeParse({ id, scopes: ['admin'] }).success, false);
		}));

	test('a rotated key gives its successor all that it has but its secret, and ends after the overlap', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const given = { site: 'west', owner: 'owner@example.org', label: 'viewer', also: ['A03'], scopes: ['read' as const] };
			const old = await createKey(context, { ...given, expires: '30d' });
			const [made, event] = await audited(administration, () => rotateKey(context, { id: old.id, overlap: '7d' }));
			const { id, key, ...others } = made;
			assert.notEqual(key, old.key);
			assert.deepEqual(others, {
				...{ site: 'west', owner: 'owner@example.org', label: 'viewer', scopes: ['read'], expires_at: '2026-03-31T10:00:00.000Z' },
				...{ replaces: old.id, replaced_ends_at: '2026-03-08T10:00:00.000Z' },
			});
			assert.deepEqual([event.action, event.subject, event.site], ['key.rotate', old.id, 'west']);
			assert.deepEqual(event.detail['before'], { expires_at: '2026-03-31T10:00:00.000Z' });
			const listed = await listKeys(context);
			assert.deepEqual(listed.map((one) => one.id).sort(), [old.id, id].sort());
			const shown = listed.find((one) => one.id === old.id);
			assert.deepEqual([shown?.replaced_by, shown?.expires_at], [id, '2026-03-08T10:00:00.000Z']);
			assert.match(shown?.warning ?? '', /^it ends after its rotation/);
			assert.deepEqual((await showKey(context, id)).also, ['A03']);
			await refused(administration, () => rotateKey(context, { id: old.id, overlap: '7d' }), /has been rotated already/);
			// A key that ends sooner than the overlap is not prolonged by it.
			const short = await createKey(context, { ...given, expires: '1d' });
			assert.equal((await rotateKey(context, { id: short.id, overlap: '7d' })).replaced_ends_at, '2026-03-02T10:00:00.000Z');
			await revokeKey(context, id);
			await refused(administration, () => rotateKey(context, { id, overlap: '7d' }), /is revoked/);
		}));
});
