import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listClients, setClient } from '#administration/clients.ts';
import { setKey } from '#administration/keys.ts';
import { listLoggedMessages, showLoggedMessage } from '#administration/messages.ts';
import { setSite, setSiteInput } from '#administration/sites.ts';
import { adt } from '#test/support/adt.ts';
import { clinicalDocument } from '#test/support/cda.ts';
import { element } from '#test/support/data-set.ts';
import { registryMessage } from '#test/support/hl7v3.ts';
import { ackOf, postV3 } from '#test/support/hl7v3-sender.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';

describe('settings of sites and senders', () => {
	let service: TestService;
	before(async () => {
		service = await testService();
	});
	after(() => service[Symbol.asyncDispose]());

	const post = async (key: string, message: string) => {
		const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'text/plain' },
			body: message,
		});
		return { status: answer.status, body: (await answer.json()) as { ack?: string; error?: string } };
	};
	const keyId = (key: string) => key.split('_')[1] ?? '';

	test('an HTTP sender opts in to events and ignores types by its key, else by its site, from the next message on', async () => {
		const { key } = await service.addSite('opting', { allowed_ips: ['127.20.0.1'] });
		const context = service.administration;
		const ignored = adt('2', 'A', 1, 'A08').replace('ADT^A08', 'ORM^O01');
		assert.equal((await post(key, adt('1', 'A', 1, 'A03'))).status, 422);
		assert.equal((await post(key, ignored)).status, 422);
		await setKey(context, { id: keyId(key), also: ['A03'], ignore: ['ORM^O01'] });
		assert.equal((await post(key, adt('1', 'A', 1, 'A03'))).status, 200);
		assert.equal((await post(key, ignored)).status, 200);
		await setKey(context, { id: keyId(key), also: [] });
		assert.equal((await post(key, adt('3', 'A', 1, 'A03'))).status, 422);
		await setSite(context, { slug: 'opting', also: ['A03'] });
		assert.equal((await post(key, adt('3', 'A', 1, 'A03'))).status, 200);
		const outcomes = await service.rows('select distinct message_type, outcome from message_log order by 1, 2');
		assert.deepEqual(outcomes, [
			{ message_type: 'ADT^A03', outcome: 'accepted' },
			{ message_type: 'ADT^A03', outcome: 'refused' },
			{ message_type: 'ORM^O01', outcome: 'ignored' },
			{ message_type: 'ORM^O01', outcome: 'refused' },
		]);
	});

	test('identifiers without an authority belong to that of the client or the key, else of the site', async () => {
		const { key } = await service.addSite('authority', { allowed_ips: ['127.20.0.2'] });
		const context = service.administration;
		await setSite(context, { slug: 'authority', default_authority: 'urn:oid:1.1' });
		const client = await MllpClient.connect(service.port('mllp'), '127.20.0.2');
		const bare = (id: string, number: string) => adt(id, number, 1).replace('^^^MRN^MR', '');
		const systemOf = async (number: string) => {
			const { body } = await service.fhir(`/fhir/Patient?identifier=${number}`, key);
			return body.entry?.map(({ resource }: { resource: { identifier: { system?: string }[] } }) => resource.identifier[0]?.system);
		};
		assert.equal(msa(await client.send(bare('1', 'S1'))).code, 'AA');
		const [sender] = (await listClients({ ...context, visibleSites: ['authority'] })).filter(({ site }) => site === 'authority');
		await setClient(context, { id: sender?.id ?? '', default_authority: 'urn:oid:1.2' });
		assert.equal(msa(await client.send(bare('2', 'C1'))).code, 'AA');
		client.close();
		await setKey(context, { id: keyId(key), default_authority: 'urn:oid:1.3' });
		assert.equal((await post(key, bare('3', 'K1'))).status, 200);
		assert.deepEqual(
			[await systemOf('S1'), await systemOf('C1'), await systemOf('K1')],
			[['urn:oid:1.1'], ['urn:oid:1.2'], ['urn:oid:1.3']],
		);
	});

	const logged = async (site: string) => {
		const context = service.administration;
		const [last] = await listLoggedMessages({ ...context, visibleSites: [site] }, { limit: 1 });
		return showLoggedMessage(context, last?.id ?? '');
	};
	const admission = (id: string, admitted: string) =>
		`MSH|^~\\&|ADT|HOSPITAL|||20260701120000||ADT^A01|${id}|P|2.5.1\rPID|1||T1^^^MRN\rPV1|1|I|||||||||||||||||V${id}^^^MRN|||||||||||||||||||||||||${admitted}\r`;

	test('a time without an offset is local time of the client, else of the site, else of the host, which the log says', async () => {
		const { key } = await service.addSite('zones', { allowed_ips: ['127.20.0.3'] });
		const context = service.administration;
		const client = await MllpClient.connect(service.port('mllp'), '127.20.0.3');
		const startOf = async (number: string) => {
			const { body } = await service.fhir(`/fhir/Encounter?identifier=V${number}`, key);
			return body.entry?.[0]?.resource.period.start;
		};
		const admit = async (id: string, admitted: string) => {
			assert.equal(msa(await client.send(admission(id, admitted))).code, 'AA');
			const { flags, settings } = await logged('zones');
			return [await startOf(id), flags.map(({ code }) => code), settings];
		};
		await setSite(context, { slug: 'zones', time_zone: 'Europe/Berlin' });
		assert.deepEqual(await admit('1', '202607011200'), ['2026-07-01T12:00:00+02:00', [], { time_zone: 'Europe/Berlin' }]);
		assert.deepEqual(await admit('2', '202601011200'), ['2026-01-01T12:00:00+01:00', [], { time_zone: 'Europe/Berlin' }]);
		// MSH-7 has no offset either, so the zone is named.
		assert.deepEqual(await admit('3', '202607011200-0500'), ['2026-07-01T12:00:00-05:00', [], { time_zone: 'Europe/Berlin' }]);
		assert.deepEqual(await admit('4', '202603290230'), ['2026-03-29T03:30:00+02:00', ['uncertain-time'], { time_zone: 'Europe/Berlin' }]);
		assert.deepEqual(await admit('5', '202610250230'), ['2026-10-25T02:30:00+02:00', ['uncertain-time'], { time_zone: 'Europe/Berlin' }]);
		const [sender] = (await listClients(context)).filter(({ site }) => site === 'zones');
		await setClient(context, { id: sender?.id ?? '', time_zone: 'America/New_York' });
		assert.deepEqual(await admit('6', '202607011200'), ['2026-07-01T12:00:00-04:00', [], { time_zone: 'America/New_York' }]);
		await setClient(context, { id: sender?.id ?? '', time_zone: '' });
		const { settings } = await setSite(context, { slug: 'zones', time_zone: '' });
		// The node of the test runs in UTC, which is assumed, and flagged.
		assert.deepEqual(settings['time_zone'], { value: 'UTC', from: 'host' });
		assert.deepEqual(await admit('7', '202607011200'), ['2026-07-01T12:00:00Z', ['time-zone-assumed'], { time_zone: 'UTC' }]);
		client.close();
		await assert.rejects(async () => setSiteInput.parse({ slug: 'zones', time_zone: 'Berlin' }), /IANA/);
	});

	test('the character set of a sender holds, whatever MSH-18 says', async () => {
		const { key } = await service.addSite('charset', { allowed_ips: ['127.20.0.9'] });
		const sent = (id: string) =>
			adt(id, 'C1', 1)
				.replace(/\|P\|2\.5\.1/, '|P|2.5.1||||||UNICODE UTF-8')
				.replace(/(PID(?:\|[^|\r]*){4}\|)[^|\r]*/, '$1M\xfcller^Ann');
		await setKey(service.administration, { id: keyId(key), charset: '8859/1' });
		const answer = await fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'application/hl7-v2' },
			body: Buffer.from(sent('1'), 'latin1'),
		});
		assert.equal(answer.status, 200, await answer.text());
		const { body } = await service.fhir('/fhir/Patient?identifier=C1', key);
		assert.equal(body.entry[0].resource.name[0].family, 'Müller');
		const [logged] = await service.rows<{ settings: { charset?: string } }>(
			"select settings from message_log where settings ->> 'charset' is not null",
		);
		assert.equal(logged?.settings.charset, '8859/1');
	});

	test('training and debugging messages are refused unless the sender takes them', async () => {
		const { key } = await service.addSite('training', { allowed_ips: ['127.20.0.4'] });
		const sent = (id: string, processingId: string) => adt(id, 'T1', 1).replace('|P|2.5.1', `|${processingId}|2.5.1`);
		for (const [id, processingId] of [
			['1', 'T'],
			['2', 'D'],
			['3', 'X'],
			['4', 'T^R'],
		] as const) {
			const { status, body } = await post(key, sent(id, processingId));
			assert.deepEqual([status, /\rERR\|.*\|202\^/.test(body.ack ?? '')], [422, true], body.ack);
			assert.match(body.error ?? '', /MSH-11.*processing_ids/);
		}
		for (const [id, processingId] of [
			['5', 'P'],
			['6', ''],
			['7', 'P^A'],
			['8', '^T'],
		] as const) {
			assert.equal((await post(key, sent(id, processingId))).status, 200, processingId);
		}
		await setKey(service.administration, { id: keyId(key), processing_ids: ['T'] });
		assert.deepEqual([(await post(key, sent('9', 'T'))).status, (await post(key, sent('10', 'P'))).status], [200, 422]);
	});

	test('training and debugging messages of HL7 v3 are refused unless the sender takes them; documents state no such code', async () => {
		const { key } = await service.addSite('training-v3', { allowed_ips: ['127.20.0.5'] });
		const send = async (number: string, processingCode: string) => {
			const patients = [`<id root="1.2.3" extension="${number}"/><patientPerson><name><family>Doe</family></name></patientPerson>`];
			return postV3(service, key, registryMessage({ id: `root="2.25.${number}"`, patients, processingCode }), {});
		};
		for (const [number, code] of [
			['1', 'T'],
			['2', 'D'],
			['3', 'TEST'],
		] as const) {
			const answer = await send(number, `<processingCode code="${code}"/>`);
			const { code: acknowledged, detail } = ackOf(answer.text);
			assert.deepEqual([answer.status, acknowledged], [422, 'AE'], answer.text);
			assert.match(detail ?? '', /processingCode.*processing_ids/);
		}
		for (const [number, code] of [
			['4', '<processingCode code="P"/>'],
			['5', '<processingCode code="p"/>'],
			['6', ''],
		] as const) {
			assert.equal((await send(number, code)).status, 200, code);
		}
		const found = async () => (await service.fhir('/fhir/Patient?_elements=identifier', key)).body.total;
		assert.equal(await found(), 3);
		await setKey(service.administration, { id: keyId(key), processing_ids: ['T'] });
		assert.equal((await send('7', '<processingCode code="T"/>')).status, 200);
		assert.equal((await send('8', '<processingCode code="P"/>')).status, 422);
		assert.equal(await found(), 4);
		assert.equal((await postV3(service, key, clinicalDocument(), {})).status, 200);
	});

	test('a study began at the offset that its files state, else in the zone of the site; queries go by the local time', async () => {
		const { key, called } = await addImagingSite(service, 'imaging-zones');
		await setSite(service.administration, { slug: 'imaging-zones', time_zone: 'Europe/Berlin' });
		using scu = await StorageScu.open(service.port('dimse'), { called });
		const stated = ctInstance({ sopInstanceUid: '1.2.3.77.1', studyUid: '1.2.3.77', seriesUid: '1.2.3.77.9' });
		const before = stated.dataSet.indexOf(element(0x0008_1010, 'SH', 'CT-SCANNER-2'));
		const offset = element(0x0008_0201, 'SH', '-0330');
		const dataSet = Buffer.concat([stated.dataSet.subarray(0, before), offset, stated.dataSet.subarray(before)]);
		assert.equal((await scu.store({ ...stated, dataSet })).status, 0);
		assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.3.78.1', studyUid: '1.2.3.78', seriesUid: '1.2.3.78.9' }))).status, 0);
		await scu.release();
		const { body } = await service.fhir('/fhir/ImagingStudy?_sort=started', key);
		const began = body.entry.map(({ resource }: { resource: { started: string; series: { started: string }[] } }) => [
			resource.started,
			resource.series[0]?.started,
		]);
		assert.deepEqual(began, [
			['2024-01-31T10:20:30+01:00', '2024-01-31T10:21:00+01:00'],
			['2024-01-31T10:20:30-03:30', '2024-01-31T10:21:00-03:30'],
		]);
		const found = await service.fhir('/fhir/ImagingStudy?started=2024-01-31T09:20:30Z', key);
		assert.equal(found.body.total, 1);
	});

	test('procedure steps are read by the settings of their sender: times without an offset, and UIDs with leading zeros', async () => {
		const { key } = await service.addSite('steps');
		const context = service.administration;
		const begin = async (uid: string, more: object = {}) => {
			const attributes = { '00400244': { vr: 'DA', Value: ['20260701'] }, '00400245': { vr: 'TM', Value: ['120000'] }, ...more };
			const answer = await fetch(`http://127.0.0.1:${service.port('mpps')}/ingest`, {
				method: 'POST',
				headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
				body: JSON.stringify({ sop_instance_uid: uid, study_uid: '1.2.3', status: 'IN PROGRESS', attributes }),
			});
			const [step] = await service.rows<{ started: string }>('select started from mpps_session where sop_instance_uid = $1', [uid]);
			const { flags, settings } = await logged('steps');
			return [answer.status, step?.started, flags.map(({ code }) => code), settings];
		};
		await setSite(context, { slug: 'steps', time_zone: '' });
		assert.deepEqual(await begin('1.2.3.1'), [200, '2026-07-01T12:00:00Z', ['time-zone-assumed'], { time_zone: 'UTC' }]);
		await setSite(context, { slug: 'steps', time_zone: 'Europe/Berlin' });
		assert.deepEqual(await begin('1.2.3.2'), [200, '2026-07-01T12:00:00+02:00', [], { time_zone: 'Europe/Berlin' }]);
		await setKey(context, { id: keyId(key), time_zone: 'America/New_York' });
		assert.deepEqual(await begin('1.2.3.3'), [200, '2026-07-01T12:00:00-04:00', [], { time_zone: 'America/New_York' }]);
		const offset = { '00080201': { vr: 'SH', Value: ['-0330'] } };
		assert.deepEqual(await begin('1.2.3.4', offset), [200, '2026-07-01T12:00:00-03:30', [], null]);

		assert.equal((await begin('1.2.03.5'))[0], 422);
		await setSite(context, { slug: 'steps', uids: 'lenient' });
		assert.equal((await begin('1.2.03.5'))[0], 200);
	});
});
