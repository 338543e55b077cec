import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addRemoteAe, addRemoteAeInput, echoRemoteAe, listRemoteAes, removeRemoteAe } from '#administration/remote-aes.ts';
import { addSite, enableSite, setSite } from '#administration/sites.ts';
import { administeredAt, audited, refused, withSite } from '#test/support/administration.ts';

describe('remote AEs', () => {
	const archive = { site: 'west', title: 'ARCHIVE', host: 'archive.example.org', port: 104, tls: true };

	test('a remote AE is added, listed and removed, by its title or by its id', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const [remote, event] = await audited(administration, () => addRemoteAe(context, archive));
			assert.deepEqual(remote, { id: remote.id, ...archive, created_at: administeredAt });
			assert.deepEqual([event.action, event.subject, event.site], ['ae.add', remote.id, 'west']);
			assert.deepEqual(await listRemoteAes(context), [remote]);
			assert.deepEqual(await listRemoteAes({ ...context, visibleSites: ['west'] }), [remote]);
			const [removed, removal] = await audited(administration, () => removeRemoteAe(context, { ae: 'ARCHIVE', site: 'west' }));
			assert.deepEqual(removed, remote);
			assert.deepEqual([removal.action, removal.subject, removal.site], ['ae.remove', remote.id, 'west']);
			const again = await addRemoteAe(context, { ...archive, tls: false });
			assert.equal(again.tls, false);
			assert.deepEqual(await removeRemoteAe(context, { ae: again.id }), again);
			assert.deepEqual(await listRemoteAes(context), []);
		}));

	test('a title is taken once a site', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite(context, { slug: 'east', name: 'East' });
			await addRemoteAe(context, archive);
			const other = await addRemoteAe(context, { ...archive, site: 'east' });
			await refused(administration, () => addRemoteAe(context, archive), /already has a remote AE 'ARCHIVE'/);
			assert.deepEqual(await listRemoteAes({ ...context, visibleSites: ['east'] }), [other]);
		}));

	test('a remote AE of another site is not removed, nor one that is not there', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite(context, { slug: 'east', name: 'East' });
			const { id } = await addRemoteAe(context, archive);
			await refused(administration, () => removeRemoteAe(context, { ae: id, site: 'east' }), /no remote AE/);
			await refused(administration, () => removeRemoteAe(context, { ae: 'ARCHIVE' }), /by its title and its site/);
			await refused(administration, () => removeRemoteAe(context, { ae: 'NOBODY', site: 'west' }), /no remote AE/);
		}));

	test('what is no title, host or port is refused', () => {
		const parse = (input: object) => addRemoteAeInput.safeParse({ ...archive, ...input }).success;
		assert.ok(parse({}));
		for (const host of ['10.0.0.1', '2001:db8::1', 'pacs']) assert.ok(parse({ host }), host);
		for (const host of ['', 'a b', 'http://pacs', '-x', 'a..b']) assert.ok(!parse({ host }), host);
		for (const port of [0, 65_536, 1.5, 'http']) assert.ok(!parse({ port }), String(port));
		for (const title of ['', '  ', 'A\\B', 'SEVENTEEN LETTERS', 'Ä']) assert.ok(!parse({ title }), title);
	});

	test('a remote AE is called under the AE title of the site, and the audit trail has what came of it', () =>
		withSite(async ({ context, rows }) => {
			const remote = await addRemoteAe(context, archive);
			const called: unknown[] = [];
			const echoing = {
				...context,
				echo: async (...parameters: unknown[]) => {
					called.push(parameters);
					return { outcome: 'refused' as const, status: 0x0122, reason: 'ARCHIVE answered with the status 0x0122' };
				},
			};
			await assert.rejects(echoRemoteAe(echoing, { ae: remote.id }), /the site 'west' has no AE title to call with/);
			await setSite(context, { slug: 'west', ae_title: 'WEST' });
			const { created_at: _, ...target } = remote;
			assert.deepEqual(await echoRemoteAe(echoing, { ae: 'ARCHIVE', site: 'west' }), {
				...target,
				calling_ae: 'WEST',
				outcome: 'refused',
				status: 0x0122,
				reason: 'ARCHIVE answered with the status 0x0122',
				duration_ms: 0,
			});
			assert.deepEqual(called, [[target, 'WEST']]);
			await enableSite(context, 'west', false);
			await assert.rejects(echoRemoteAe(echoing, { ae: remote.id }), /the site 'west' is disabled/);
			assert.equal(called.length, 1);
			const events = await rows<{ subject: string; detail: object }>(`select subject, detail from audit_event where action = 'ae.echo'`);
			assert.deepEqual(events, [{ subject: remote.id, detail: { after: { outcome: 'refused', status: 0x0122 } } }]);
		}));
});
