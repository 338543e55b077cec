import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Passwords } from '#access/password.ts';
import { createKey } from '#administration/keys.ts';
import { addSite, addSiteInput, enableSite, listSites, setSite, setSiteInput, showSite } from '#administration/sites.ts';
import { addUser, addUserInput, enableUser, listUsers, resetPassword, setUser, type UserRecord } from '#administration/users.ts';
import { administeredAt, audited, refused, withSite } from '#test/support/administration.ts';

describe('sites', () => {
	test('a site is added, shown and listed', () =>
		withSite(async (administration) => {
			const { context, rows } = administration;
			const input = { slug: 'east', name: 'East', ae_title: 'EAST', default_authority: 'urn:oid:1.2.3' };
			const [site, event] = await audited(administration, () => addSite(context, input));
			const settings = {
				update_creates: true,
				check_references: true,
				instance_policy: 'keep',
				waiting_max: null,
				associations_max: null,
				active: true,
			};
			const { settings: inForce, ...listed } = site;
			assert.deepEqual(listed, { id: site.id, ...input, ...settings, created_at: administeredAt, move: null });
			assert.deepEqual(inForce['default_authority'], { value: 'urn:oid:1.2.3', from: 'site' });
			assert.deepEqual(inForce['update_creates'], { value: true, from: 'default' });
			assert.deepEqual([event.action, event.subject, event.site, event.detail], ['site.add', 'east', 'east', { after: listed }]);
			assert.deepEqual(await showSite(context, 'east'), site);
			assert.deepEqual(
				(await listSites(context)).map(({ slug }) => slug),
				['east', 'west'],
			);
			assert.deepEqual(await rows('select sequence from site_turn where site_id = $1', [site.id]), [{ sequence: '0' }]);
		}));

	test('a slug or an AE title that is taken is refused', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite(context, { slug: 'east', name: 'East', ae_title: 'EAST' });
			await refused(administration, () => addSite(context, { slug: 'east', name: 'Other' }), /the site 'east' already exists/);
			await refused(
				administration,
				() => addSite(context, { slug: 'north', name: 'North', ae_title: 'EAST' }),
				/belongs to the site 'east'/,
			);
			await refused(administration, () => setSite(context, { slug: 'west', ae_title: 'EAST' }), /belongs to the site 'east'/);
		}));

	test('a site is changed; an empty value removes; its own AE title is no conflict', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const [changed, event] = await audited(administration, () =>
				setSite(context, { slug: 'west', name: 'West Wing', ae_title: 'WEST', default_authority: 'urn:oid:9' }),
			);
			assert.deepEqual([changed.name, changed.ae_title, changed.default_authority], ['West Wing', 'WEST', 'urn:oid:9']);
			assert.deepEqual([event.action, event.site], ['site.set', 'west']);
			assert.deepEqual(event.detail, {
				before: { name: 'West', ae_title: null, default_authority: null },
				after: { name: 'West Wing', ae_title: 'WEST', default_authority: 'urn:oid:9' },
			});
			const same = await setSite(context, { slug: 'west', ae_title: 'WEST', default_authority: '' });
			assert.deepEqual([same.name, same.ae_title, same.default_authority], ['West Wing', 'WEST', null]);
		}));

	test('a site is disabled and enabled', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const [disabled, event] = await audited(administration, () => enableSite(context, 'west', false));
			assert.deepEqual([disabled.active, event.action, event.site], [false, 'site.disable', 'west']);
			const [enabled, again] = await audited(administration, () => enableSite(context, 'west', true));
			assert.deepEqual([enabled.active, again.action], [true, 'site.enable']);
		}));

	test('a site that is not there is refused by name', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const nowhere = /there is no site 'nowhere'/;
			await refused(administration, () => showSite(context, 'nowhere'), nowhere);
			await refused(administration, () => setSite(context, { slug: 'nowhere', name: 'N' }), nowhere);
			await refused(administration, () => enableSite(context, 'nowhere', false), nowhere);
			await refused(administration, () => createKey(context, { site: 'nowhere', owner: 'owner@example.org', label: '' }), nowhere);
			await refused(administration, () => administration.addClient('nowhere'), nowhere);
			await refused(administration, () => addUser(context, { email: 'a@example.org', admin: false, sites: ['nowhere'] }), nowhere);
		}));

	const wrong: [string, object][] = [
		['an upper-case slug', { slug: 'West', name: 'W' }],
		['a slug with a hyphen at its end', { slug: 'west-', name: 'W' }],
		['a slug of 64 characters', { slug: 'a'.repeat(64), name: 'W' }],
		['an empty name', { slug: 'west', name: ' ' }],
		['an AE title of 17 characters', { slug: 'west', name: 'W', ae_title: 'A'.repeat(17) }],
		['an AE title with a backslash', { slug: 'west', name: 'W', ae_title: 'A\\B' }],
		['an AE title of blanks', { slug: 'west', name: 'W', ae_title: '  ' }],
		['an authority that is no URI', { slug: 'west', name: 'W', default_authority: 'hospital' }],
		['a member that there is none of', { slug: 'west', name: 'W', colour: 'red' }],
	];
	for (const [name, input] of wrong) {
		test(`${name} is no input`, () => assert.equal(addSiteInput.safeParse(input).success, false));
	}

	test('an AE title is removed by an empty value when a site is changed, not when it is added', () => {
		assert.ok(setSiteInput.safeParse({ slug: 'west', ae_title: '' }).success);
		assert.ok(!addSiteInput.safeParse({ slug: 'west', name: 'W', ae_title: '' }).success);
	});
});

describe('users', () => {
	test('a user is added with sites, by an address in lower case, and listed', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite(context, { slug: 'east', name: 'East' });
			const [user, event] = await audited(administration, () =>
				addUser(context, { email: 'Nurse@Example.org', admin: false, sites: ['west', 'east'] }),
			);
			assert.deepEqual(user, {
				id: user.id,
				email: 'nurse@example.org',
				admin: false,
				role: 'manager',
				sites: ['east', 'west'],
				all_sites: false,
				active: true,
				created_at: administeredAt,
			});
			assert.deepEqual([event.action, event.subject, event.site], ['user.add', 'nurse@example.org', null]);
			assert.deepEqual((await listUsers(context))[0], user);
		}));

	test('an address that is taken is refused, in whatever case', () =>
		withSite((administration) =>
			refused(administration, () => addUser(administration.context, { email: 'OWNER@example.org', admin: true, sites: [] }), /already/),
		));

	test('what is no e-mail address is no input', () => {
		assert.equal(addUserInput.safeParse({ email: 'owner' }).success, false);
	});

	test('a user is disabled, and then owns no new key', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const [user, event] = await audited(administration, () => enableUser(context, 'Owner@example.org', false));
			assert.deepEqual([user.active, event.action, event.subject], [false, 'user.disable', 'owner@example.org']);
			await refused(administration, () => createKey(context, { site: 'west', owner: 'owner@example.org', label: '' }), /disabled/);
		}));

	test('a user gets another role and other sites, from somebody else alone', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite(context, { slug: 'east', name: 'East' });
			const [user, event] = await audited(administration, () =>
				setUser(context, { email: 'Owner@example.org', role: 'auditor', sites: ['east'] }),
			);
			assert.deepEqual([user.role, user.sites, user.admin], ['auditor', ['east'], false]);
			assert.deepEqual(event.detail, { before: { role: 'manager', sites: ['west'] }, after: { role: 'auditor', sites: ['east'] } });
			assert.deepEqual((await setUser(context, { email: 'owner@example.org', sites: [] })).sites, []);
			const oneself = { ...context, actor: { ...context.actor, name: 'owner@example.org' } };
			await refused(administration, () => setUser(oneself, { email: 'owner@example.org', role: 'administrator' }), /another administrator/);
			await refused(administration, () => enableUser(oneself, 'owner@example.org', false), /another administrator/);
		}));

	test('that an auditor is of all sites is said, and ends with the role', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const email = 'a@example.org';
			const reach = ({ role, sites, all_sites }: UserRecord) => [role, sites, all_sites];
			assert.deepEqual(reach(await addUser(context, { email, role: 'auditor' })), ['auditor', [], false]);
			assert.deepEqual(reach(await setUser(context, { email, all_sites: true })), ['auditor', [], true]);
			assert.deepEqual(reach(await setUser(context, { email, sites: ['west'] })), ['auditor', ['west'], true]);
			assert.deepEqual(reach(await setUser(context, { email, role: 'manager' })), ['manager', ['west'], false]);
			assert.deepEqual(reach(await setUser(context, { email, role: 'auditor' })), ['auditor', ['west'], false]);
			assert.deepEqual(reach(await addUser(context, { email: 'b@example.org', role: 'auditor', all_sites: true })), ['auditor', [], true]);
			await refused(administration, () => setUser(context, { email, role: 'manager', all_sites: true }), /all_sites/);
			await refused(administration, () => addUser(context, { email: 'c@example.org', all_sites: true }), /all_sites/);
			await refused(administration, () => addUser(context, { email: 'd@example.org', admin: true, all_sites: true }), /all_sites/);
		}));

	test('a role and the word for administrators have to agree; a manager unless it is said', () =>
		withSite(async (administration) => {
			const { context } = administration;
			assert.equal((await addUser(context, { email: 'a@example.org', role: 'auditor' })).role, 'auditor');
			assert.equal((await addUser(context, { email: 'b@example.org' })).role, 'manager');
			assert.deepEqual((await addUser(context, { email: 'c@example.org', admin: true, role: 'administrator' })).admin, true);
			await refused(
				administration,
				() => addUser(context, { email: 'd@example.org', admin: true, role: 'auditor' }),
				/admin cannot be combined with the role auditor/,
			);
		}));

	test('without access to all sites, a manager sees the users of the same sites and nobody else', () =>
		withSite(async ({ context }) => {
			await addSite(context, { slug: 'east', name: 'East' });
			await addUser(context, { email: 'both@example.org', sites: ['west', 'east'] });
			await addUser(context, { email: 'east@example.org', sites: ['east'] });
			await addUser(context, { email: 'admin@example.org', admin: true });
			assert.deepEqual(
				(await listUsers({ ...context, visibleSites: ['west'] })).map(({ email, sites }) => [email, sites]),
				[
					['both@example.org', ['west']],
					['owner@example.org', ['west']],
				],
			);
		}));

	test('a password is shown once and kept as a hash, with a salt of its own', () =>
		withSite(async (administration) => {
			const { context, rows } = administration;
			const hashOf = async () =>
				(await rows<{ password_hash: string }>("select password_hash from app_user where email = 'owner@example.org'"))[0]?.password_hash;
			const real = { ...context, passwords: new Passwords() };
			const [{ password }, event] = await audited(administration, () => resetPassword(real, 'owner@example.org'));
			assert.match(password, /^[\w-]{20}$/);
			assert.equal(event.action, 'user.reset-password');
			assert.deepEqual(event.detail, {});
			const first = await hashOf();
			assert.match(first ?? '', /^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
			assert.ok(!first?.includes(password));
			assert.notEqual((await resetPassword(context, 'owner@example.org')).password, password);
			assert.notEqual(await hashOf(), first);
		}));

	test('a user who is not there is refused by name', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const nobody = /there is no user 'nobody@example.org'/;
			await refused(administration, () => enableUser(context, 'nobody@example.org', false), nobody);
			await refused(administration, () => resetPassword(context, 'nobody@example.org'), nobody);
			await refused(administration, () => createKey(context, { site: 'west', owner: 'nobody@example.org', label: '' }), nobody);
		}));
});
