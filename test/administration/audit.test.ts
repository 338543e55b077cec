import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { auditCsvHead, auditCsvRow, listAudit, listAuditInput } from '#administration/audit.ts';
import { setClient } from '#administration/clients.ts';
import { addSite, setSite } from '#administration/sites.ts';
import { administeredAt, withSite } from '#test/support/administration.ts';

describe('the audit trail', () => {
	test('says who changed what from where, with before and after, newest first', () =>
		withSite(async ({ context }) => {
			await setSite({ ...context, source: '192.0.2.7' }, { slug: 'west', name: 'West Wing', ae_title: 'WEST' });
			const [event, ...more] = await listAudit(context, listAuditInput.parse({ limit: '2' }));
			assert.deepEqual(event, {
				id: event?.id,
				recorded_at: administeredAt,
				site: 'west',
				actor: 'test',
				action: 'site.set',
				...{ subject: 'west', subject_name: 'West Wing' },
				source: '192.0.2.7',
				detail: { before: { name: 'West', ae_title: null }, after: { name: 'West Wing', ae_title: 'WEST' } },
				...{ holder: null, patients: [], patient_count: 0, studies: [] },
			});
			assert.deepEqual(
				more.map(({ action, site, source }) => [action, site, source]),
				[['user.add', null, null]],
			);
		}));

	test('is found by site, actor, action, noun and time, page by page', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite({ ...context, actor: { ...context.actor, name: 'ann@example.org' } }, { slug: 'east', name: 'East' });
			const { id } = await administration.addClient('west');
			await setClient({ ...context, nowMs: () => Date.parse(administeredAt) + 60_000 }, { id, name: 'Renamed' });
			const found = async (filters: object, visibleSites: 'all' | string[] = 'all') =>
				(await listAudit({ ...context, visibleSites }, listAuditInput.parse(filters))).map(({ action, site }) => `${action} ${site}`);
			const whole = ['client.set west', 'client.add west', 'site.add east', 'user.add null', 'site.add west'];
			assert.deepEqual(await found({}), whole);
			assert.deepEqual(await found({}, ['west']), ['client.set west', 'client.add west', 'site.add west']);
			assert.deepEqual(await found({}, ['west', 'east']), ['client.set west', 'client.add west', 'site.add east', 'site.add west']);
			assert.deepEqual(await found({}, []), []);
			await assert.rejects(found({}, ['nowhere']), { fault: 'not-found', field: 'site' });
			assert.deepEqual(await found({ actor: 'ann@example.org' }), ['site.add east']);
			assert.deepEqual(await found({ action: 'client' }, ['west']), ['client.set west', 'client.add west']);
			assert.deepEqual(await found({ action: 'client.add' }), ['client.add west']);
			assert.deepEqual(await found({ action: 'clien' }), []);
			const kinds = [
				'fhir.update',
				'dicom.association',
				'patient.read',
				'user.sign-in-failed',
				'authority.preview',
				'bulk.import',
				'key.refused',
			];
			const changes = ['messages.replay', 'bulk.import.delete', 'sign-in.policy-set', 'patient.merge', 'user.reset-password'];
			await administration.rows(
				`insert into audit_event (site_id, id, recorded_at, actor, action, subject, detail)
				select s.id, gen_random_uuid(), now(), 'ben', action, '', '{}' from site s cross join unnest($1::text[]) as k (action) where s.slug = 'east'`,
				[[...kinds, ...changes]],
			);
			const ofBen = await found({ actor: 'ben', changes: true }, ['east']);
			assert.deepEqual(ofBen.sort(), changes.map((action) => `${action} east`).sort());
			assert.deepEqual((await found({ changes: true, action: 'messages' })).sort(), ['messages.replay east']);
			assert.equal((await found({ changes: true })).length, whole.length + changes.length);
			await administration.rows("delete from audit_event where actor = 'ben'");
			assert.deepEqual(await found({ actor: 'ANN@' }), ['site.add east']);
			assert.deepEqual(await found({ actor: 'nobody' }), []);
			// The ids of events have the time at which they were noted.
			await administration.rows('update audit_event set recorded_at = recorded_at + (now() - $1::timestamptz)', [administeredAt]);
			const [middle] = await administration.rows<{ at: string }>("select to_json(now() + interval '30 seconds') #>> '{}' as at");
			const at = new Date(middle?.at ?? '').toISOString();
			assert.deepEqual(await found({ since: at }), ['client.set west']);
			assert.deepEqual(await found({ until: at, limit: 2 }, ['west']), ['client.add west', 'site.add west']);
			const [first] = await listAudit(context, listAuditInput.parse({ limit: 1 }));
			assert.deepEqual(await found({ before: first?.id, limit: 3 }), whole.slice(1, 4));
			assert.deepEqual(await found({ before: first?.id, limit: 1 }, ['west']), ['client.add west']);
		}));

	test('is written as CSV without formulas and with its quotes', () => {
		const row = auditCsvRow({
			id: '0199c0de-0000-7000-8000-000000000001',
			recorded_at: administeredAt,
			site: null,
			actor: 'sender',
			action: 'mllp.refused',
			subject: '=HYPERLINK("x")',
			subject_name: null,
			source: '192.0.2.7',
			detail: { times: 2 },
			...{ holder: null, patients: ['anna', 'ben'], patient_count: 2, studies: ['1.2.3'] },
		});
		assert.equal(
			auditCsvHead,
			'id,recorded_at,site,actor,action,subject,subject_name,source,detail,holder,patients,patient_count,studies\r\n',
		);
		assert.equal(
			row,
			`"0199c0de-0000-7000-8000-000000000001","${administeredAt}","","sender","mllp.refused","'=HYPERLINK(""x"")","","192.0.2.7","{""times"":2}","","anna ben","2","1.2.3"\r\n`,
		);
	});
});
