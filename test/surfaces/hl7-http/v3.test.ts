import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { replayMessage } from '#administration/messages.ts';
import { setSite } from '#administration/sites.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { IndependentDocument, registryMessage, replacementOf } from '#test/support/hl7v3.ts';
import { ackOf, postV3 } from '#test/support/hl7v3-sender.ts';
import { without } from '#test/support/needs.ts';
import { type TestService, testService } from '#test/support/service.ts';

const ada = (value: string, more = '') =>
	`<id root="1.2.3" extension="${value}"/><patientPerson><name use="L"><given>Ada</given><family>Lovemore</family></name>` +
	`<administrativeGenderCode code="F"/><birthTime value="18151210"/>${more}</patientPerson>`;

describe('POST /v3/ingest', () => {
	let service: TestService;
	let key: string;
	let siteId: string;
	before(async () => {
		service = await testService();
		const added = await service.addSite('registry');
		key = added.key;
		siteId = added.site.id;
	});
	after(() => service[Symbol.asyncDispose]());

	const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, as = key) =>
		postV3(service, as, body, headers);
	const patient = async (value: string) => {
		const { body } = await service.fhir(`/fhir/Patient?identifier=urn:oid:1.2.3|${value}`, key);
		return body.entry?.[0]?.resource;
	};

	test('a patient that is added is committed, answered AA and found', async () => {
		const answer = await post(registryMessage({ id: 'root="1.2.3.4" extension="A1"', patients: [ada('A1')] }));
		assert.equal(answer.status, 200);
		assert.equal(answer.type, 'application/xml; charset=utf-8');
		const { document, code } = ackOf(answer.text);
		assert.equal(code, 'AA');
		assert.deepEqual(document.names('/v3:MCCI_IN000002UV01/*'), [
			...['id', 'creationTime', 'interactionId', 'processingCode', 'processingModeCode', 'acceptAckCode', 'receiver', 'sender'],
			'acknowledgement',
		]);
		assert.deepEqual(document.names('//v3:acknowledgement/*'), ['typeCode', 'targetMessage']);
		assert.deepEqual(document.values('//v3:targetMessage/v3:id/@extension'), ['A1']);
		assert.deepEqual(document.values('//v3:receiver/v3:device/v3:id/@root'), ['2.2.1']);
		assert.deepEqual(document.values('//v3:receiver//v3:representedOrganization/v3:id/@root'), ['2.2.2']);
		assert.deepEqual(document.values('//v3:sender/v3:device/v3:id/@root'), ['1.1.1']);
		assert.match(document.values('/*/v3:creationTime/@value')[0] ?? '', /^20\d{12}\+0000$/);
		const found = await patient('A1');
		assert.equal(found.birthDate, '1815-12-10');
		assert.equal(found.gender, 'female');
		assert.equal(found.meta.source, 'urn:tributary:hl7-http:1.2.3.4%5EA1');
	});

	test('a revision replaces what it states and keeps what it does not, nullFlavor included', async () => {
		const send = (id: string, body: string, interaction?: string) =>
			post(registryMessage({ id: `root="${id}"`, patients: [body], ...(interaction === undefined ? {} : { interaction }) }));
		await send('2.25.1', ada('R1', '<telecom value="tel:1"/><maritalStatusCode code="M"/>'));
		const revised =
			'<id root="1.2.3" extension="R1"/><patientPerson><name nullFlavor="UNK"/><telecom value="tel:2"/>' +
			'<maritalStatusCode nullFlavor="NI"/><birthTime value=""/></patientPerson>';
		assert.equal((await send('2.25.2', revised, 'PRPA_IN201302UV02')).status, 200);
		const found = await patient('R1');
		assert.equal(found.name[0].family, 'Lovemore');
		assert.deepEqual(found.telecom, [{ system: 'phone', value: '2' }]);
		assert.equal(found.maritalStatus.coding[0].code, 'M');
		assert.equal(found.birthDate, '1815-12-10');
		assert.equal(found.meta.versionId, '2');
	});

	test('duplicates resolved is a merge: the prior patient is replaced, its identifier leads to the survivor', async () => {
		await post(registryMessage({ id: 'root="2.25.3"', patients: [ada('S1'), ada('P1')] }));
		const body = registryMessage({
			interaction: 'PRPA_IN201304UV02',
			id: 'root="2.25.4"',
			patients: [ada('S1')],
			behind: replacementOf('root="1.2.3" extension="P1"'),
		});
		assert.equal((await post(body)).status, 200);
		const survivor = await patient('S1');
		const { body: bundle } = await service.fhir('/fhir/Patient?identifier=urn:oid:1.2.3|P1', key);
		const ids = bundle.entry.map((entry: { resource: { id: string } }) => entry.resource.id);
		assert.ok(ids.includes(survivor.id));
		assert.equal(survivor.link[0].type, 'replaces');
		const itself = registryMessage({
			interaction: 'PRPA_IN201304UV02',
			id: 'root="2.25.5"',
			patients: [ada('S1')],
			behind: replacementOf('root="1.2.3" extension="S1"'),
		});
		const refused = await post(itself);
		assert.equal(refused.status, 422);
		assert.match(ackOf(refused.text).detail ?? '', /names the surviving patient itself/);
		assert.equal(
			ackOf(refused.text).location,
			'/PRPA_IN201304UV02/controlActProcess/subject/registrationEvent/replacementOf/priorRegistration/subject1/priorRegisteredRole',
		);
	});

	test('the same message again gets the same answer and is applied once; other content under its id is flagged', async () => {
		const message = registryMessage({ id: 'root="2.25.6"', patients: [ada('D1')] });
		const [first, second] = [await post(message), await post(message)];
		assert.equal(second.text, first.text);
		assert.equal((await patient('D1')).meta.versionId, '1');
		await post(registryMessage({ id: 'root="2.25.6"', patients: [ada('D1', '<telecom value="tel:1"/>')] }));
		const log = await service.rows<{ outcome: string; flags: { code: string }[] | null }>(
			`select outcome, flags from message_log where site_id = $1 and control_id = '2.25.6' order by sequence`,
			[siteId],
		);
		assert.deepEqual(
			log.map(({ outcome, flags }) => [outcome, flags?.map(({ code }) => code)]),
			[
				['accepted', undefined],
				['duplicate', undefined],
				['accepted', ['same-control-id']],
			],
		);
	});

	test('an accept acknowledgement is sent where acceptAckCode asks for it', async () => {
		const code = async (acceptAckCode: string, id: string, body = ada('C1')) =>
			ackOf((await post(registryMessage({ acceptAckCode, id: `root="${id}"`, patients: [body] }))).text).code;
		const broken = '<id root="1.2.3" extension="C1"/><patientPerson><birthTime value="no date"/></patientPerson>';
		assert.deepEqual(
			[await code('AL', '2.25.7'), await code('ER', '2.25.8'), await code('SU', '2.25.9'), await code('NE', '2.25.10')],
			['CA', 'AA', 'CA', 'AA'],
		);
		assert.deepEqual(
			[await code('AL', '1.1', broken), await code('ER', '1.2', broken), await code('SU', '1.3', broken), await code('NE', '1.4', broken)],
			['CE', 'CE', 'AE', 'AE'],
		);
		const query = registryMessage({ acceptAckCode: 'AL', interaction: 'PRPA_IN201305UV02', patients: [ada('C1')] });
		assert.equal(ackOf((await post(query)).text).code, 'CR');
	});

	test('a fault is answered AE with its code, sentence and place', async () => {
		const answer = await post(
			registryMessage({ id: 'root="2.25.11"', patients: [ada('F1'), ada('F2').replace('18151210', '1815-12-10')] }),
		);
		assert.equal(answer.status, 422);
		const { document, code, detail, detailCode, location } = ackOf(answer.text);
		assert.deepEqual([code, detailCode], ['AE', 'SYN102']);
		assert.match(detail ?? '', /^birthTime is not a date/);
		assert.equal(location, '/PRPA_IN201301UV02/controlActProcess/subject[2]/registrationEvent/subject1/patient/patientPerson/birthTime');
		assert.deepEqual(document.names('//v3:acknowledgement/*'), ['typeCode', 'targetMessage', 'acknowledgementDetail']);
		assert.deepEqual(document.names('//v3:acknowledgementDetail/*'), ['code', 'text', 'location']);
		assert.equal(await patient('F1'), undefined, 'the first subject of a refused message was applied');
	});

	test('other interactions and other XML are refused by name', async () => {
		const query = await post(registryMessage({ interaction: 'PRPA_IN201305UV02', patients: [ada('Q1')] }));
		assert.equal(query.status, 422);
		assert.match(ackOf(query.text).detail ?? '', /PRPA_IN201305UV02/);
		assert.equal(ackOf(query.text).detailCode, 'NS200');
		for (const body of ['<a/>', 'MSH|^~\\&|', '{}', '<PRPA_IN201301UV02 xmlns="urn:other"/>']) {
			const answer = await post(body);
			assert.equal(answer.status, 400, body);
			assert.equal(ackOf(answer.text).code, 'AE', body);
		}
		assert.equal((await post('')).status, 400);
	});

	test('a SOAP envelope is answered with one of the same version', async () => {
		const message = registryMessage({ id: 'root="2.25.12"', patients: [ada('E1')] });
		for (const [prefix, namespace, type] of [
			['s11', 'http://schemas.xmlsoap.org/soap/envelope/', 'text/xml'],
			['s12', 'http://www.w3.org/2003/05/soap-envelope', 'application/soap+xml'],
		] as const) {
			const envelope =
				`<?xml version="1.0"?><e:Envelope xmlns:e="${namespace}" xmlns:w="http://www.w3.org/2005/08/addressing"><e:Header>` +
				`<w:MessageID>urn:uuid:1&amp;2</w:MessageID></e:Header><e:Body>${message}</e:Body></e:Envelope>`;
			const answer = await post(envelope, { 'Content-Type': `${type}; charset=UTF-8` });
			assert.equal(answer.status, 200);
			assert.equal(answer.type, `${type}; charset=utf-8`);
			const document = new IndependentDocument(answer.text);
			assert.deepEqual(document.names(`/${prefix}:Envelope/${prefix}:Body/*`), ['MCCI_IN000002UV01']);
			assert.deepEqual(document.values('//wsa:RelatesTo'), ['urn:uuid:1&2']);
			const empty = await post(`<e:Envelope xmlns:e="${namespace}"><e:Body/></e:Envelope>`, { 'Content-Type': type });
			assert.equal(empty.status, 400);
			assert.deepEqual(new IndependentDocument(empty.text).names(`/${prefix}:Envelope/${prefix}:Body/*`), ['MCCI_IN000002UV01']);
		}
		assert.equal((await patient('E1')).name[0].family, 'Lovemore');
	});

	test('Accept: application/json gets the JSON of /v2/ingest', async () => {
		const message = registryMessage({ id: 'root="2.25.13"', patients: [ada('J1')] });
		const accepted = await post(message, { Accept: 'application/json' });
		assert.equal(accepted.status, 200);
		const { ack, ...rest } = JSON.parse(accepted.text);
		assert.deepEqual(rest, { success: true, message_type: 'PRPA_IN201301UV02' });
		assert.equal(ackOf(ack).code, 'AA');
		const refused = await post(message.replaceAll('201301', '201309'), { Accept: 'application/json' });
		assert.equal(refused.status, 422);
		const body = JSON.parse(refused.text);
		assert.deepEqual([body.success, body.message_type], [false, 'PRPA_IN201309UV02']);
		assert.match(body.error, /PRPA_IN201309UV02 is not supported/);
		assert.equal((await post(message, { Accept: 'text/html' })).status, 406);
		assert.equal((await post(message, { Accept: 'text/xml, application/json;q=0.5' })).type, 'application/xml; charset=utf-8');
	});

	test('keys, media types and encodings are those of the surface', async () => {
		const message = registryMessage({ patients: [ada('K1')] });
		assert.equal((await post(message, {}, 'wrong')).status, 401);
		assert.equal((await post(message, { 'Content-Type': 'text/plain' })).status, 415);
		assert.equal((await post(message, { 'Content-Type': 'application/xml; charset=ebcdic' })).status, 415);
		assert.equal((await post(message, { 'Content-Encoding': 'gzip' })).status, 415);
	});

	test('encodings: byte order marks, declarations and the charset of Content-Type', async () => {
		const person = (value: string) =>
			registryMessage({ id: `root="3.1" extension="${value}"`, patients: [ada(value).replace('Lovemore', 'Lövemåre')] });
		const utf16 = Buffer.from(`\ufeff${person('U16')}`, 'utf16le');
		const bigEndian = Buffer.from(Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${person('U16B')}`, 'utf16le')).swap16();
		const latin = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${person('L1')}`, 'latin1');
		const byHeader = Buffer.from(person('L2'), 'latin1');
		const bodies: [string, Buffer<ArrayBuffer>, string][] = [
			['U16', utf16, ''],
			['U16B', bigEndian, ''],
			['L1', latin, ''],
			['L2', byHeader, '; charset="iso-8859-1"'],
			['U8', Buffer.from(`\ufeff${person('U8')}`), ''],
		];
		for (const [value, body, parameter] of bodies) {
			const answer = await post(body, { 'Content-Type': `text/xml${parameter}` });
			assert.equal(answer.status, 200, `${value} ${answer.text}`);
			assert.equal((await patient(value)).name[0].family, 'Lövemåre', value);
		}
		const undeclared = await post(byHeader);
		assert.equal(undeclared.status, 400);
		assert.match(ackOf(undeclared.text).detail ?? '', /not in the encoding/);
	});

	test('what is refused is in the message log with its reason and can be replayed', async () => {
		const broken = registryMessage({ id: 'root="2.25.14"', patients: ['<patientPerson/>'] });
		assert.equal((await post(broken)).status, 422);
		await post('<not xml');
		const log = await service.rows<{ id: string; message_type: string; outcome: string; failure_code: string }>(
			`select id, message_type, outcome, failure_code from message_log where site_id = $1 and outcome = 'refused' order by sequence desc limit 2`,
			[siteId],
		);
		assert.deepEqual(
			log.map((row) => [row.message_type, row.failure_code]),
			[
				['HL7v3', 'not-hl7'],
				['PRPA_IN201301UV02', 'required-field-missing'],
			],
		);
		const replayed = [];
		for (const { id } of log) replayed.push(await replayMessage(service.administration, id));
		assert.match(replayed[0]?.failure ?? '', /no XML/);
		assert.equal(replayed[1]?.failure, 'patient has no id with a root or an extension');
		const [accepted] = await service.rows<{ id: string }>(
			`select id from message_log where site_id = $1 and outcome = 'accepted' and message_type = 'PRPA_IN201301UV02' limit 1`,
			[siteId],
		);
		const again = await replayMessage(service.administration, accepted?.id ?? '');
		assert.equal(again.outcome, 'accepted');
	});

	test('bodies that attack the reader are refused, and the next message is served', async () => {
		const size = 12_000_000;
		const head = '<PRPA_IN201301UV02 xmlns="urn:hl7-org:v3" xmlns:p="urn:p">';
		const bodies = [
			head + '<p:a>'.repeat(size / 5),
			`${head}<a ${Array.from({ length: size / 12 }, (_, index) => `a${index}="1"`).join(' ')}/>`,
			head + '<a/>'.repeat(size / 4),
			`<!DOCTYPE a [${'<!ENTITY l "ha">'.repeat(size / 16)}]>${head}`,
			`${head}${'&l;'.repeat(size / 3)}`,
			`${head}<a b="${'&#x41;'.repeat(size / 6)}`,
			Buffer.alloc(size, 0x3c),
		];
		for (const body of bodies) {
			const answer = await post(body);
			assert.equal(answer.status, 400);
			assert.equal(ackOf(answer.text).code, 'AE');
		}
		const tooLong = await post(Buffer.alloc(50 * 1024 * 1024, 0x20)).catch((error: Error) => error);
		// The server may close the connection while the body is still on its way.
		if (!(tooLong instanceof Error)) assert.equal(tooLong.status, 413);
		assert.equal((await post(registryMessage({ id: 'root="2.25.15"', patients: [ada('N1')] }))).status, 200);
	});

	test('metrics count the interaction', async () => {
		const text = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		assert.match(text, /tributary_hl7_messages_total\{surface="hl7-http",type="PRPA_IN201301UV02",outcome="accepted"\} \d+/);
		assert.match(text, /tributary_hl7_refusals_total\{surface="hl7-http",code="not-hl7"\} \d+/);
	});

	test('the files of the shared corpus are accepted or refused as it expects', { skip: without('corpus') }, async () => {
		const { key: own } = await service.addSite('corpus');
		// One of them, which is neither expected to be accepted nor to be refused, is for debugging.
		await setSite(service.administration, { slug: 'corpus', processing_ids: ['P', 'D'] });
		const files = corpusFiles('hl7v3');
		assert.equal(files.length, 46);
		for (const { path, expect, type, bytes } of files) {
			const answer = await post(Buffer.from(bytes), {}, own);
			const { code, detail } = ackOf(answer.text);
			const accepted = expect === 'accept' || path.endsWith('iti44-multipatient-request-1.xml');
			assert.equal(answer.status === 200, accepted, `${path}: ${detail}`);
			assert.match(code ?? '', accepted ? /^[AC]A$/ : /^(?:AE|CE|CR)$/, path);
			if (!accepted && type.startsWith('PRPA_IN20130') && !type.includes('201301')) assert.ok(detail?.includes(type.trim()), detail);
		}
	});
});
