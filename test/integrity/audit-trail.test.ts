import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openAudit } from '#access/audit.ts';
import { listAudit, listAuditInput } from '#administration/audit.ts';
import { verifyAudit } from '#administration/audit-verify.ts';
import { showPatient } from '#administration/patient-chart.ts';
import { setSite } from '#administration/sites.ts';
import { silentLog } from '#core/log.ts';
import { doorTo } from '#test/support/door.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { defaultLimits } from '../../src/limits.ts';
import { createMetrics } from '../../src/metrics.ts';

let service: TestService;
let west: FhirCall;
let east: FhirCall;
const note = (id: string, patient: string) => ({
	...{ resourceType: 'Observation', id, status: 'final', code: { text: 'note' }, subject: { reference: `Patient/${patient}` } },
});

before(async () => {
	service = await testService({ AUDIT_WAIT_MS_MAX: '50', PROCESSES: '1' });
	west = fhirClient(service, (await service.addSite('west')).key);
	east = fhirClient(service, (await service.addSite('east')).key);
	for (const id of ['anna', 'ben'])
		assert.equal((await west('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, name: [{ family: 'Strict' }] })).status, 201);
	assert.equal((await east('PUT', '/Patient/anna', { resourceType: 'Patient', id: 'anna' })).status, 201);
	for (const id of ['anna', 'ben']) assert.equal((await west('PUT', `/Observation/of-${id}`, note(`of-${id}`, id))).status, 201);
});

after(async () => {
	await service[Symbol.asyncDispose]();
});

type Event = Awaited<ReturnType<typeof listAudit>>[number];

/** The events that match, oldest first, as soon as there are so many. */
async function events(filters: object, count: number): Promise<Event[]> {
	let found: Event[] = [];
	await eventually(
		async () => {
			found = (await listAudit({ ...service.administration, visibleSites: ['west'] }, listAuditInput.parse(filters))).reverse();
			return found.length >= count;
		},
		`${count} events of ${JSON.stringify(filters)}`,
	);
	return found;
}

const verified = () => verifyAudit(service.administration, { known: [] });

/** Waits until all events are linked; those of changes are within a second. */
const linked = () => eventually(async () => (await verified()).waiting === 0, 'that all events are linked');

describe('the audit trail has every access by FHIR', () => {
	test('who read and wrote which patient, from where, with what outcome and request id, without names', async () => {
		const since = new Date().toISOString();
		await west('GET', '/Patient/anna', undefined, { 'X-Request-Id': 'asked-1' });
		await west('GET', '/Observation?code=1');
		await west('GET', '/Observation?patient=anna,ben&_sort=date');
		await west('GET', '/Patient?name=Strict');
		await west('GET', '/Patient/anna/$everything');
		await west('GET', '/Patient/anna/_history/1');
		await west('GET', '/Patient/Strict%20Anna');
		await west('PUT', '/Observation/of-anna', { ...note('of-anna', 'anna'), status: 'amended' }, { Prefer: 'return=minimal' });
		const created = await west('POST', '/Observation', note('x', 'ben'));
		const found = await events({ since, action: 'fhir' }, 7);
		const shown = found.map(({ action, subject, patients, detail }) => [action, subject, patients.sort().join(' '), detail['status']]);
		const made = `Observation/${created.headers.get('location')?.split('/').at(-3)}`;
		assert.deepEqual(shown, [
			['fhir.read', 'Patient/anna', 'anna', 200],
			['fhir.search', 'Observation', 'anna ben', 200],
			['fhir.search', 'Patient', 'anna ben', 200],
			['fhir.operation', 'Patient/anna/$everything', 'anna', 200],
			['fhir.vread', 'Patient/anna', 'anna', 200],
			['fhir.update', 'Observation/of-anna', 'anna', 200],
			['fhir.create', made, 'ben', 201],
		]);
		const [first] = found;
		assert.equal(first?.detail['request'], 'asked-1');
		assert.equal(first?.source, '127.0.0.1');
		assert.equal(first?.holder, 'owner@example.org');
		assert.match(first?.actor ?? '', /^key:/);
		assert.equal(found[1]?.detail['parameters'], 'patient,_sort');
		assert.ok(!JSON.stringify(found).includes('Strict'));
	});

	test('a patient is asked for, those merged into them with them, and only of the site', async () => {
		const read = async () => (await events({ patient: 'anna' }, 1)).filter(({ action }) => action === 'fhir.read').length;
		const before = await read();
		await east('GET', '/Patient/anna');
		await west('GET', '/Patient/anna');
		await eventually(async () => (await read()) === before + 1, 'the read of the own site');
		await showPatient(service.administration, { site: 'west', id: 'anna' });
		assert.deepEqual(
			(await events({ patient: 'anna', action: 'patient.read' }, 1)).map(({ actor }) => actor),
			['test'],
		);
	});

	test('the site says which reads are recorded; writes always are', async () => {
		for (const [recorded_reads, expected] of [
			['none', []],
			['all', ['fhir.search', 'fhir.read']],
		] as const) {
			await setSite(service.administration, { slug: 'west', recorded_reads });
			const since = new Date().toISOString();
			await west('GET', '/Organization');
			await west('GET', '/Patient/nobody');
			await west('PUT', '/Patient/ben', { resourceType: 'Patient', id: 'ben', active: recorded_reads === 'all' });
			const found = await events({ since, action: 'fhir' }, expected.length + 1);
			assert.deepEqual(
				found.map(({ action }) => action),
				[...expected, 'fhir.update'],
			);
		}
		await setSite(service.administration, { slug: 'west', recorded_reads: 'patients' });
	});

	test('what has gathered when the service ends is written', async () => {
		const since = new Date().toISOString();
		for (let round = 0; round < 40; round++) await west('GET', '/Patient/ben');
		await service.restart();
		const found = await events({ since, action: 'fhir.read' }, 1);
		const reads = found.reduce((sum, { detail }) => sum + Number(detail['times'] ?? 1), 0);
		assert.equal(reads, 40);
	});
});

describe('the audit trail as AuditEvents', () => {
	test('is found by patient, date, agent, action and entity, page by page, in the own site only', async () => {
		await service.restart();
		const since = new Date().toISOString();
		await west('GET', '/Patient/ben', undefined, { 'X-Request-Id': 'asked-2' });
		await west('GET', '/Observation?patient=ben');
		await west('PUT', '/Observation/of-ben', { ...note('of-ben', 'ben'), status: 'amended' });
		await events({ since, action: 'fhir' }, 3);
		const found = async (query: string, site = west) => {
			const { status, body, text } = await site('GET', `/AuditEvent?${query}`);
			assert.equal(status, 200, text);
			return (body.entry ?? []).map(({ resource }: { resource: { subtype: { code: string }[] } }) => resource.subtype.at(-1)?.code);
		};
		const dated = `date=ge${since}`;
		assert.deepEqual(await found(`patient=Patient/ben&${dated}&action=R`), ['fhir.read']);
		assert.deepEqual(await found(`patient=ben&${dated}`).then((codes) => codes.slice(-3)), ['fhir.update', 'fhir.search', 'fhir.read']);
		assert.deepEqual(await found(`entity=Observation/of-ben&${dated}`), ['fhir.update']);
		assert.deepEqual(await found(`subtype=read,update&${dated}`), ['fhir.update', 'fhir.read']);
		assert.deepEqual(await found(`agent=nobody`), []);
		assert.deepEqual(await found(`date=lt2020-01-01`), []);
		for (const none of ['gt9999-12-31', 'gt9999', 'sa9999-12-31', '9999', 'lt0001-01-01T00:00:00%2B14:00', '0001-01-01T00:00:00%2B14:00']) {
			assert.deepEqual(await found(`date=${none}`), [], none);
		}
		assert.ok((await found(`${dated}&date=le9999-12-31&date=ge0001-01-01T00:00:00%2B14:00`)).length > 2);
		assert.deepEqual(await found(`patient=ben`, east), []);
		const first = await west('GET', `/AuditEvent?patient=ben&${dated}&subtype=fhir.read&_count=1`);
		const { resource } = first.body.entry[0];
		assert.deepEqual(resource.meta.profile, ['https://profiles.ihe.net/ITI/BALP/StructureDefinition/IHE.BasicAudit.PatientRead']);
		assert.equal(resource.action, 'R');
		assert.equal(resource.outcome, '0');
		assert.equal(resource.agent[0].network.address, '127.0.0.1');
		assert.equal(resource.agent[0].who.display, 'owner@example.org');
		assert.deepEqual(resource.entity[0].what, { reference: 'Patient/ben' });
		assert.deepEqual(resource.entity[1].what, { identifier: { value: 'asked-2' } });
		assert.equal((await west('GET', `/AuditEvent/${resource.id}`)).body.id, resource.id);
		assert.equal((await east('GET', `/AuditEvent/${resource.id}`)).status, 404);
		const checked = await west('POST', '/AuditEvent/$validate', resource);
		assert.ok(!checked.text.includes('"error"'), checked.text);
		const ids = new Set<string>();
		let pages = 0;
		for (let path = '/AuditEvent?patient=ben&_count=2'; path !== ''; pages++) {
			const { body, status } = await west('GET', path);
			assert.equal(status, 200);
			for (const entry of body.entry ?? []) ids.add(entry.resource.id);
			const next = body.link.find(({ relation }: { relation: string }) => relation === 'next');
			path = next === undefined ? '' : next.url.replace(/^.*\/fhir/, '');
		}
		assert.ok(pages > 2 && ids.size > 4, `${pages} pages, ${ids.size} events`);
	});

	test('stands before what clients write, and cannot be changed', async () => {
		const written = await west('POST', '/AuditEvent', {
			resourceType: 'AuditEvent',
			type: { system: 'http://dicom.nema.org/resources/ontology/DCM', code: '110100' },
			recorded: '2026-01-01T00:00:00Z',
			agent: [{ requestor: true }],
			source: { observer: { display: 'another' } },
		});
		assert.equal(written.status, 201, written.text);
		const own = await west('GET', '/AuditEvent?_trail=false');
		assert.deepEqual(
			own.body.entry.map(({ resource }: { resource: { id: string } }) => resource.id),
			[written.body.id],
		);
		const [event] = (await west('GET', '/AuditEvent?_count=1')).body.entry;
		const changed = { ...written.body, id: event.resource.id };
		await west('PUT', `/AuditEvent/${event.resource.id}`, changed);
		assert.deepEqual((await west('GET', `/AuditEvent/${event.resource.id}`)).body, event.resource);
		await setSite(service.administration, { slug: 'west', audit_events: false });
		assert.equal((await west('GET', '/AuditEvent')).body.entry.length, 2, 'what clients wrote alone');
		await setSite(service.administration, { slug: 'west', audit_events: true });
	});
});

describe('the chains of the audit trail', () => {
	test('hold over writers that follow each other, and name what is kept elsewhere', async () => {
		await west('GET', '/Patient/anna');
		await linked();
		const first = await verified();
		assert.equal(first.first_break, null);
		assert.ok(first.chains >= 2 && first.events > 50, JSON.stringify(first));
		assert.ok(first.ends.some(({ closed }) => closed));
		const known = first.ends.map(({ chain, sequence, digest }) => `${chain}:${sequence}:${digest}`);
		assert.equal((await verifyAudit(service.administration, { known })).holds, true);
	});

	/** Changes the stored trail, asks what is found, and puts it back. */
	async function afterTampering(tamper: string): Promise<[kind: string | undefined, reason: string | undefined]> {
		await service.restart();
		await linked();
		await service.rows(
			'begin; create table kept_events as select * from audit_event; create table kept_batches as select * from audit_batch; commit',
		);
		try {
			await service.rows(tamper);
			const { holds, first_break } = await verified();
			assert.equal(holds, first_break === null);
			return [first_break?.kind, first_break?.reason];
		} finally {
			await service.rows(
				`begin; delete from audit_event where id in (select id from kept_events) or batch is not null; delete from audit_batch where id in (select id from kept_batches);
				insert into audit_event select * from kept_events on conflict do nothing; insert into audit_batch select * from kept_batches on conflict do nothing;
				drop table kept_events; drop table kept_batches; commit`,
			);
		}
	}

	const aRead = `(select id from audit_event where action = 'fhir.read' and batch <> '00000000-0000-0000-0000-000000000000' order by id limit 1)`;
	const aChange = `(select id from audit_event where action = 'site.add' order by id limit 1)`;
	const longest = '(select chain_id from audit_batch group by chain_id order by count(*) desc limit 1)';
	for (const [title, tamper, kind, reason] of [
		['an event that was changed', `update audit_event set actor = 'key:other' where id = ${aRead}`, 'changed', /one of its events/],
		[
			'an event of a change that was changed',
			`update audit_event set actor = 'nobody' where id = ${aChange}`,
			'changed',
			/one of its events/,
		],
		['a patient taken out of an event', `update audit_event set patients = '{}' where id = ${aRead}`, 'changed', /one of its events/],
		['an event that was removed', `delete from audit_event where id = ${aRead}`, 'removed', /1 of \d+ events/],
		[
			'an event that was put in',
			`insert into audit_event select (jsonb_populate_record(e, jsonb_build_object('id', left(id::text, 35) || (case right(id::text, 1) when '0' then '1' else '0' end)))).* from audit_event e where id = ${aRead}`,
			'inserted',
			/put in|no batch/,
		],
		[
			'an event that pretends to be old',
			`insert into audit_event (id, recorded_at, site_id, actor, action, subject, batch) values ('${'ffffffff-ffff-7fff-8fff-ffffffffffff'}', now(), default, 'x', 'x', 'x', '00000000-0000-0000-0000-000000000000')`,
			'inserted',
			/before there were chains/,
		],
		[
			'a batch that was removed with its events',
			`with gone as (delete from audit_batch where chain_id = ${longest} and sequence = 1 returning id) delete from audit_event where batch in (select id from gone)`,
			'removed',
			/batches 1 to 1 are missing/,
		],
		[
			'the end of a chain',
			`with gone as (delete from audit_batch where chain_id = (select id from audit_chain order by id limit 1) and sequence >= 1 returning id) delete from audit_event where batch in (select id from gone)`,
			'removed',
			/end of the chain is missing/,
		],
		[
			'a whole chain',
			`with gone as (delete from audit_batch where chain_id = (select id from audit_chain order by id limit 1) returning id) delete from audit_event where batch in (select id from gone)`,
			'removed',
			/every batch/,
		],
		[
			'batches in another order',
			[
				[1, -1],
				[2, 1],
				[-1, 2],
			]
				.map(([is, becomes]) => `update audit_batch set sequence = ${becomes} where chain_id = ${longest} and sequence = ${is}`)
				.join(';'),
			'reordered',
			/does not follow/,
		],
	] as const)
		test(`name ${title}`, async () => {
			const [found, why] = await afterTampering(tamper);
			assert.equal(found, kind, why);
			assert.match(why ?? '', reason);
			assert.equal((await verified()).holds, true, 'put back, they hold again');
		});
});

describe('months that are over for AUDIT_KEEP_DAYS', () => {
	test('are removed whole, and what is left holds', async () => {
		const atMs = Date.parse('2020-01-15T12:00:00Z');
		const bound = (time: string) =>
			`${(Date.parse(time).toString(16).padStart(12, '0')).replace(/^(.{8})(.{4})$/, '$1-$2')}-0000-0000-000000000000`;
		const door = doorTo(service.databaseUrl);
		const metrics = createMetrics({ processMetrics: false });
		const write = async (nowMs: number, auditKeepDays: number) => {
			const limits = { ...defaultLimits, auditKeepDays };
			const clock = { nowMs: () => nowMs };
			const audit = openAudit({ connection: door.journal, limits, metrics, log: silentLog, clock, links: auditKeepDays > 0 });
			audit.recordOf({ siteId: null, actor: 'test', action: 'test.old', subject: `${nowMs}`, source: '', detail: {} });
			await audit.close();
		};
		await write(atMs, 0);
		await linked();
		const [first] = await service.rows<{ name: string; high: string }>(
			`select c.relname as name, substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([0-9a-f-]+)''\\)') as high
			from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'audit_event'::regclass and c.relname like '%before%'`,
		);
		assert.ok(first);
		const high = bound('2020-02-01T00:00:00Z');
		await service.rows(
			`begin; create table audit_event_202001 (like audit_event including all);
			with moved as (delete from audit_event where id < '${high}' returning *) insert into audit_event_202001 select * from moved;
			alter table audit_event detach partition ${first.name};
			alter table audit_event attach partition audit_event_202001 for values from (minvalue) to ('${high}');
			alter table audit_event attach partition ${first.name} for values from ('${high}') to ('${first.high}'); commit`,
		);
		const old = () => service.rows("select from audit_event where action = 'test.old'");
		assert.equal((await verified()).first_break, null);
		const [site] = await service.rows<{ id: string; slug: string }>('select id, slug from site limit 1');
		assert.ok(site);
		await setSite(service.administration, { slug: site.slug, audit_retention_days: '0' });
		await write(Date.now(), 365);
		assert.equal((await old()).length, 2, 'one site keeps the trail for ever');
		await setSite(service.administration, { slug: site.slug, audit_retention_days: '' });
		await service.rows(
			"insert into legal_hold (site_id, id, study_uid, reason, placed_at, placed_by) values ($1, $1, '1.2', 'file', now(), 'test')",
			[site.id],
		);
		await write(Date.now(), 365);
		assert.equal((await old()).length, 3, 'a legal hold keeps all of it');
		await service.rows('delete from legal_hold');
		await write(Date.now(), 365);
		assert.equal((await old()).length, 3, 'the new ones alone');
		assert.deepEqual(await service.rows("select from pg_class where relname = 'audit_event_202001'"), []);
		const after = await verified();
		assert.equal(after.first_break, null);
		await service.rows(
			'delete from audit_batch where (chain_id, sequence) in (select chain_id, min(sequence) from audit_batch group by chain_id limit 1)',
		);
		assert.equal((await verified()).first_break?.kind, 'removed', 'only what was noted may be missing');
		await door.close();
	});
});
