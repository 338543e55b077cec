import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addUser, resetPassword } from '#administration/users.ts';
import { testService } from '#test/support/service.ts';
import { adminClient, signedIn } from './client.ts';

const path = '/api/v1/audit.csv';

describe('the audit trail as CSV', () => {
	test('is whole, page after page, and of the own sites only', async () => {
		await using service = await testService();
		await service.addSite('north');
		await service.addSite('south');
		await addUser(service.administration, { email: 'north@example.org', role: 'auditor', sites: ['north'] });
		await service.rows(
			`insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail)
			select ('0199c0de-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, now(), site.id, 'sender', 'test.many', '=cmd' || n, null,
				'{"text": "a \\"quoted\\" one"}'
			from generate_series(1, 2500) n, site where site.slug = 'north'`,
		);
		const admin = await signedIn(service, 'owner@example.org', (await resetPassword(service.administration, 'owner@example.org')).password);
		const many = await admin.call(`${path}?action=test.many`);
		assert.equal(many.status, 200);
		assert.match(many.headers.get('content-type') ?? '', /^text\/csv/);
		assert.equal(many.headers.get('content-disposition'), 'attachment; filename="audit.csv"');
		const [head, ...rows] = many.body.split('\r\n').slice(0, -1);
		assert.equal(head, 'id,recorded_at,site,actor,action,subject,subject_name,source,detail,holder,patients,patient_count,studies');
		assert.equal(new Set(rows).size, 2500);
		assert.match(
			rows[0],
			/^"0199c0de-[^"]*","[^"]*","north","sender","test\.many","'=cmd2500","","","\{""text"":""a \\""quoted\\"" one""\}","","","0",""$/,
		);

		const own = await signedIn(service, 'north@example.org', (await resetPassword(service.administration, 'north@example.org')).password);
		const seen = (await own.call(path)).body;
		assert.ok(seen.includes('"north"'));
		assert.ok(!seen.includes('"south"'));
		assert.equal((await own.call(`${path}?site=south`)).status, 403);
		assert.deepEqual((await own.call(`${path}?since=yesterday`)).body.field, 'since');
		assert.equal((await adminClient(service).call(path)).status, 401);
	});
});
