import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addUser, resetPassword } from '#administration/users.ts';
import { logOf } from '#test/support/message-rows.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { type AdminClient, owner, signedIn } from './client.ts';

describe('what is found through the admin API', () => {
	let service: TestService;
	let admin: AdminClient;
	let manager: AdminClient;
	before(async () => {
		service = await testService();
		await service.addSite('north');
		await service.addSite('south');
		await service.rows(...logOf('north', 400));
		await service.rows(...logOf('south', 60));
		await service.rows('analyze');
		admin = await signedIn(service, owner, (await resetPassword(service.administration, owner)).password);
		await addUser(service.administration, { email: 'mia@example.org', role: 'manager', sites: ['south'] });
		manager = await signedIn(service, 'mia@example.org', (await resetPassword(service.administration, 'mia@example.org')).password);
	});
	after(() => service[Symbol.asyncDispose]());

	test('messages come live, by the filters of the list and the sites of the user', async () => {
		const controller = new AbortController();
		const watch = async (client: AdminClient, query: string) => {
			const path = `${client.origin}/api/v1/messages/tail/live${query}`;
			const answer = await fetch(path, { headers: { Cookie: client.cookie }, signal: controller.signal });
			const seen = { status: answer.status, ids: [] as string[], sites: new Set<string>() };
			const read = async () => {
				let text = '';
				for await (const chunk of answer.body ?? []) {
					text += Buffer.from(chunk).toString();
					for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
						const [, data] = /^event: messages\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
						text = text.slice(end + 2);
						for (const { site, control_id: id } of JSON.parse(data ?? '[]')) {
							seen.ids.push(id);
							seen.sites.add(site);
						}
					}
				}
			};
			if (seen.status === 200) read().catch(() => undefined);
			return seen;
		};
		const all = await watch(admin, '?outcome=refused');
		const own = await watch(manager, '');
		assert.equal((await watch(manager, '?site=north')).status, 403);
		assert.equal((await watch(admin, '?patient=P7')).status, 400);
		const before = all.ids.length;
		await service.rows(
			`insert into message_log select site_id, gen_random_uuid(), 9999, surface, client_id, source, now(), now(), message_type, 'Late-' || outcome,
				outcome, failure_code, failure, flags, changed, replay_of, bytes, ack, patient, other_patient, kind, settings
			from (select distinct on (site_id, outcome) * from message_log order by site_id, outcome, id) m`,
		);
		await service.rows(
			`update message_log set id = (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70008000' || substr(md5(random()::text), 1, 12))::uuid
			where sequence = 9999`,
		);
		await eventually(() => all.ids.length >= before + 2 && own.ids.includes('Late-refused'), 'the messages');
		assert.deepEqual(all.ids.slice(-2), ['Late-refused', 'Late-refused']);
		assert.deepEqual([...own.sites], ['south']);
		assert.equal(new Set(own.ids).size, own.ids.length, 'each is told once');
		controller.abort();
	});

	const call = async (client: AdminClient, path: string, body?: object) => {
		const { status, body: answer } = await client.call(`/api/v1${path}`, body === undefined ? {} : { method: 'POST', body });
		return status === 200 ? answer : { status, ...answer };
	};

	test('messages are found by the beginning of type and control id, in any case', async () => {
		const ids = async (query: string) =>
			(await call(admin, `/messages?site=north&limit=1000&${query}`)).map((row: { control_id: string }) => row.control_id);
		assert.equal((await ids('type=orm')).length, 8);
		assert.equal((await ids('type=orm%5Eo01&outcome=accepted')).length, 8);
		assert.equal((await ids('type=o01')).length, 0);
		assert.deepEqual(await ids('control_id=msg-40'), ['Msg-400', 'Msg-40']);
		assert.equal((await ids('control_id=MSG-1&type=adt&outcome=refused')).length, 11);
		assert.deepEqual(await ids('control_id=sg-40'), []);
		assert.equal((await call(admin, '/messages?type=orm&limit=1000')).length, 9);
	});

	test('the audit trail is found by a part of who acted', async () => {
		const all = await call(admin, '/audit?actor=MIA');
		assert.ok(all.length > 0);
		assert.ok(all.every(({ actor }: { actor: string }) => actor === 'mia@example.org'));
		assert.deepEqual(await call(admin, '/audit?actor=nobody'), []);
		const [event] = await call(admin, '/audit?actor=example.org&limit=1');
		assert.ok((await call(admin, `/audit?actor=example.org&before=${event.id}`)).length > 0);
	});

	test('the audit trail is narrowed to changes, and associations to an AE title and an outcome', async () => {
		await service.rows(
			`insert into audit_event (site_id, id, recorded_at, actor, action, subject, detail)
			select s.id, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70008000' || substr(md5(random()::text), 1, 12))::uuid, now(), 'sender',
				'dicom.association', calling, jsonb_build_object('called_ae', 'NORTH', 'started_at', to_json(now()), 'bytes', 1, 'instances', 1, 'warnings', 0,
				'failed', failed, 'requests', '', 'end', ends)
			from site s cross join (values ('CT1', 0, 'released'), ('CT2', 3, 'released'), ('MR1', 0, 'idle')) as a (calling, failed, ends) where s.slug = 'north'`,
		);
		const actions = async (query: string) =>
			(await call(admin, `/audit?limit=1000${query}`)).map(({ action }: { action: string }) => action);
		const all = await actions('');
		const changes = await actions('&changes=true');
		assert.ok(all.includes('user.sign-in') && all.includes('dicom.association') && changes.includes('user.add'));
		assert.ok(!changes.some((action: string) => /sign-in|association|search|read/.test(action)), changes.join(', '));
		const { total } = await call(admin, '/audit/histogram?changes=true');
		assert.equal(total, changes.length);
		const file = await fetch(`${admin.origin}/api/v1/audit.csv?changes=true`, { headers: { Cookie: admin.cookie } });
		assert.equal((await file.text()).trim().split('\r\n').length, changes.length + 1);
		const callers = async (query: string, client = admin) =>
			(await call(client, `/associations?${query}`)).map(({ calling_ae: title }: { calling_ae: string }) => title).sort();
		assert.deepEqual(await callers('ae=ct'), ['CT1', 'CT2']);
		assert.deepEqual(await callers('ae=nor&outcome=complete'), ['CT1']);
		assert.deepEqual(await callers('outcome=failed&site=north'), ['CT2']);
		assert.deepEqual(await callers('outcome=broken-off'), ['MR1']);
		assert.deepEqual(await callers('ae=CT', manager), []);
		assert.equal((await call(admin, '/associations?outcome=good')).field, 'outcome');
		assert.equal((await call(admin, '/associations/histogram?ae=ct')).total, 2);
		assert.equal((await call(admin, '/associations/histogram?outcome=broken-off')).total, 1);
	});

	test('an id is found where the caller may see it, and patients leave a trace', async () => {
		const kinds = async (client: AdminClient, text: string) =>
			(await call(client, '/find', { text })).map(({ kind, site, detail }: Record<string, string>) => `${kind} ${site} ${detail}`);
		assert.deepEqual(await kinds(admin, 'msg-399'), ['message north message Msg-399']);
		assert.deepEqual(await kinds(manager, 'msg-399'), []);
		assert.deepEqual((await kinds(manager, 'Msg-59')).sort(), ['message south message Msg-59']);
		assert.deepEqual((await kinds(admin, 'North')).sort(), ['client north client', 'site north site']);
		const [client] = await service.rows<{ id: string }>("select id from integration_client where name = 'south sender'");
		assert.deepEqual(await kinds(manager, String(client?.id).toUpperCase()), ['client south client']);
		await service.rows(
			`insert into patient (site_id, id, version, last_updated, resource) select id, gen_random_uuid(), 1, now(),
				'{"name":[{"family":"Lovemore","given":["Ada"]}]}' from site`,
		);
		await service.rows(
			"insert into patient_identifier (site_id, value, system, patient_id, old, rank) select site_id, 'AB' || 4711, 'urn:mrn', id, false, 0 from patient",
		);
		assert.deepEqual(await kinds(manager, 'ab47'), ['patient south patient AB4711']);
		const [found] = await call(manager, '/find', { text: 'ab4711' });
		assert.equal(found.title, 'Lovemore, Ada');
		const [{ named }] = (await service.rows<{ named: number }>(
			"select count(*)::integer as named from audit_event where action = 'patient.search' and patients is not null",
		)) as [{ named: number }];
		assert.equal(named, 2);
		assert.equal((await call(manager, '/find', { text: 'ab47', site: 'north' })).status, 403);
		assert.equal((await call(admin, '/find', { text: 'x' })).status, 400);
	});

	test('studies, reports and patients are found by the beginning of a number, in any case', async () => {
		await service.rows(
			`with made as (
				insert into patient (site_id, id, version, last_updated, resource, name)
				select s.id, gen_random_uuid(), 1, now(), '{"name":[{"family":"Zweig' || n || '"}]}', 'zweig' || n
				from site s cross join generate_series(1, 220) n where s.slug = 'north'
				returning site_id, id, substr(name, 6) as n
			), numbered as (
				insert into patient_identifier (site_id, value, system, patient_id, old, rank)
				select site_id, 'Zw-' || n, 'urn:mrn', id, false, 0 from made
			), reported as (
				insert into diagnostic_report (site_id, id, version, last_updated, resource, patient_id, status, accession_number, filler_number)
				select site_id, gen_random_uuid(), 1, now(), '{"resourceType":"DiagnosticReport"}', id, 'final', 'Acc-' || n, 'Fill-' || n from made
			)
			insert into imaging_study (site_id, study_uid, id, patient_id, accession_number, modalities, series_count, instance_count, bytes, created_at, updated_at)
			select site_id, '2.999.' || n, gen_random_uuid(), id, 'Acc-' || n, '{CT}', 1, 1, 1, now(), now() from made`,
		);
		const numbers = (rows: { accession_number: string }[]) => rows.map(({ accession_number: number }) => number).sort();
		const studies = (asked: object) => call(admin, '/sites/north/studies/search', asked);
		const hundreds = (start: string) => ['', ...'0123456789'].map((last) => `${start}${last}`);
		assert.deepEqual(numbers(await studies({ text: 'acc-15' })), hundreds('Acc-15'));
		assert.deepEqual(numbers(await studies({ text: 'ACC-15', patient: 'zw-151' })), ['Acc-151']);
		assert.deepEqual(numbers(await studies({ text: '2.999.15' })), hundreds('Acc-15'));
		assert.deepEqual(numbers(await studies({ patient: 'ZW-15' })), hundreds('Acc-15'));
		assert.deepEqual(await studies({ text: 'cc-15' }), []);
		assert.deepEqual(await studies({ patient: 'w-15' }), []);
		for (const [asked, field] of [
			[{ text: 'acc' }, 'text'],
			[{ patient: 'zw' }, 'patient'],
		] as const) {
			const refused = await studies(asked);
			assert.deepEqual([refused.status, refused.field], [400, field]);
			assert.match(refused.error, /more than 200 numbers .*begin so; write more of it/);
		}
		const reports = async (text: string, more: object = {}) => numbers(await call(admin, '/reports/search', { text, ...more }));
		assert.deepEqual(await reports('acc-15'), hundreds('Acc-15'));
		assert.deepEqual(await reports('FILL-15', { site: 'north' }), hundreds('Acc-15'));
		assert.deepEqual(await reports('zw-15', { limit: 200 }), hundreds('Acc-15'));
		assert.deepEqual(await reports('w-15'), []);
		assert.deepEqual(await call(manager, '/reports/search', { text: 'acc-15' }), []);
		assert.equal((await call(admin, '/reports/search', { text: 'acc' })).field, 'text');
		const patients = async (text: string, more: object = {}): Promise<{ id: string; name: string }[]> =>
			call(admin, '/sites/north/patients/search', { text, ...more });
		const first = await patients('zw-15', { limit: 6 });
		const second = await patients('zw-15', { limit: 6, before: first.at(-1)?.id });
		assert.deepEqual([first.length, second.length], [6, 5]);
		assert.deepEqual(await patients('zw-15', { before: second.at(-1)?.id }), []);
		const named = [...first, ...second].map(({ name }) => name).sort();
		assert.deepEqual(named, hundreds('Zweig15'));
		assert.equal((await patients('zweig', { limit: 200 })).length, 200);
		assert.equal((await patients('zw')).length, 50, 'a name goes before the beginning of a number');
		assert.equal((await call(admin, '/sites/north/patients/search', { text: 'zw-' })).field, 'text');
	});

	test('messages and procedure steps are found by the beginning of a number, in any case', async () => {
		const messages = (asked: object, client = admin) => call(client, '/messages/search', { limit: 1000, ...asked });
		const ids = async (asked: object) => (await messages(asked)).map(({ control_id: id }: { control_id: string }) => id);
		assert.deepEqual(await ids({ site: 'north', patient: 'p79' }), ['Msg-379', 'Msg-279', 'Msg-179', 'Msg-79']);
		assert.equal((await ids({ site: 'north', patient: 'P7' })).length, 44);
		assert.equal((await ids({ patient: 'p7' })).length, 44 + 1, 'at all sites');
		assert.deepEqual(await ids({ site: 'north', patient: '79' }), []);
		assert.equal((await messages({ patient: 'p7' }, manager)).length, 1);
		// Another number of the patient, under which no message came.
		await service.rows(
			`with made as (
				insert into patient (site_id, id, version, last_updated, resource) select id, gen_random_uuid(), 1, now(), '{}' from site where slug = 'north'
				returning site_id, id
			)
			insert into patient_identifier (site_id, value, system, patient_id, old, rank)
			select site_id, value, 'urn:mrn', id, false, 0 from made cross join unnest(array['P79', 'Visit-1']) as v (value)`,
		);
		assert.deepEqual(await ids({ site: 'north', patient: 'visit' }), ['Msg-379', 'Msg-279', 'Msg-179', 'Msg-79']);
		assert.deepEqual(await ids({ patient: 'visit' }), []);
		await service.rows(
			`insert into mpps_session (site_id, id, sop_instance_uid, study_uid, status, late, attributes, patient_id, accession_number, series_uids,
				reports, last_digest, last_message_id, created_at, updated_at)
			select s.id, gen_random_uuid(), '2.998.' || n, '2.998', 'COMPLETED', false, '{}', 'Step-' || n, 'Order-' || n, '{}', 1, '', gen_random_uuid(), now(), now()
			from site s cross join generate_series(1, 220) n where s.slug = 'north'`,
		);
		const steps = async (asked: object, client = admin) =>
			(await call(client, '/mpps/search', asked)).map(({ accession_number: number }: { accession_number: string }) => number).sort();
		const eleven = ['', ...'0123456789'].map((last) => `Order-15${last}`);
		assert.deepEqual(await steps({ accession: 'ORDER-15' }), eleven);
		assert.deepEqual(await steps({ site: 'north', patient: 'step-15' }), eleven);
		assert.deepEqual(await steps({ patient: 'step-15', accession: 'order-151' }), ['Order-151']);
		assert.deepEqual(await steps({ patient: 'tep-15' }), []);
		assert.deepEqual(await steps({ patient: 'step-15' }, manager), []);
		for (const field of ['patient', 'accession']) {
			const refused = await call(admin, '/mpps/search', { [field]: field === 'patient' ? 'step' : 'order' });
			assert.deepEqual([refused.status, refused.field], [400, field]);
			assert.match(refused.error, /more than 200 numbers begin so; write more of it/);
		}
	});

	test('what a list shows is counted over time', async () => {
		const sum = (parts: { count: number; failed: number }[], of: 'count' | 'failed') =>
			parts.reduce((before, part) => before + part[of], 0);
		const since = new Date(Date.now() - 3_600_000).toISOString();
		const north = await call(admin, '/messages/histogram', { site: 'north', since });
		assert.equal(north.part_seconds, 300);
		assert.ok(north.parts.length <= 61);
		assert.equal(north.total, sum(north.parts, 'count'));
		assert.ok(north.total >= 400);
		assert.ok(sum(north.parts, 'failed') >= 40);
		assert.equal((await call(admin, '/messages/histogram', { site: 'north', type: 'orm', since })).total, 8);
		assert.equal((await call(admin, '/messages/histogram', { site: 'north', type: 'zzz', since })).total, 0);
		assert.equal((await call(admin, '/messages/histogram', { site: 'north', patient: 'P79' })).total, 4);
		assert.equal((await call(manager, '/messages/histogram', { control_id: 'MSG-5', since })).total, 11);
		assert.equal((await call(manager, '/messages/histogram', { site: 'north' })).status, 403);
		assert.equal((await call(admin, `/messages/histogram`, { until: since, since })).status, 400);
		assert.ok((await call(admin, '/audit/histogram?actor=mia')).total > 0);
		assert.ok((await call(manager, '/audit/histogram')).total < (await call(admin, '/audit/histogram')).total);
		assert.equal((await call(admin, '/associations/histogram')).total, 3);
		assert.equal((await call(admin, '/studies/histogram')).total, 0);
		assert.equal((await call(admin, '/unmatched/histogram')).total, 0);
		assert.equal((await call(manager, '/unmatched/histogram')).status, 403);
	});

	test('messages are found by what their fields hold, bounded, and the audit trail has the fields only', async () => {
		const search = (where: string[], more: object = {}) => call(admin, '/messages/search-content', { site: 'north', where, ...more });
		const smith = await search(['PID-5~^SMI3', 'OBX-3=718-7'], { limit: 20 });
		assert.equal(smith.messages.length, 20);
		assert.ok(smith.next !== null && smith.examined < 400);
		const rest = await search(['PID-5~^smi3', 'OBX-3=718-7'], { limit: 200, before: smith.next });
		assert.equal(smith.messages.length + rest.messages.length, 57);
		assert.equal(rest.next, null);
		assert.equal((await search(['PID-5.2=Ada', 'PID-3=P7'])).messages.length, 4);
		assert.equal((await search(['PID-5~th$', 'PID-3=P7'])).messages.length, 4);
		assert.equal((await search(['PID-3!=P7', 'PID-3~^p7'], { limit: 200 })).messages.length, 40);
		assert.equal((await search(['OBX-3=718'])).messages.length, 0);
		assert.equal((await search(['PID-3=P7'], { outcome: 'refused' })).messages.length, 0);
		assert.equal((await search(['smith'])).field, 'where');
		assert.equal((await call(manager, '/messages/search-content', { site: 'north', where: ['PID-3=P7'] })).status, 403);
		const noted = await service.rows<{ subject: string; detail: object }>(
			"select distinct subject, detail from audit_event where action = 'message.search' order by 1",
		);
		assert.ok(noted.length > 0 && !/smi|P7|Ada/i.test(JSON.stringify(noted)), JSON.stringify(noted));
	});
});
