import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { replayMessage } from '#administration/messages.ts';
import { setSite } from '#administration/sites.ts';
import { clinicalDocument, grace, relatedDocument } from '#test/support/cda.ts';
import { corpusFiles } from '#test/support/corpus.ts';
import { IndependentDocument, registryMessage, replacementOf } from '#test/support/hl7v3.ts';
import { ackOf, postV3 } from '#test/support/hl7v3-sender.ts';
import { without } from '#test/support/needs.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

describe('a ClinicalDocument by POST /v3/ingest', () => {
	let service: TestService;
	let key: string;
	let siteId: string;
	before(async () => {
		service = await testService();
		const added = await service.addSite('documents');
		key = added.key;
		siteId = added.site.id;
	});
	after(() => service[Symbol.asyncDispose]());

	const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, as = key) =>
		postV3(service, as, body, headers);
	const take = async (body: string) => {
		const answer = await post(body);
		assert.equal(answer.status, 200, answer.text);
	};
	const found = async (path: string): Promise<FhirBody[]> => {
		const { body } = await service.fhir(`/fhir${path}`, key);
		return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
	};
	const documents = (id: string) => found(`/DocumentReference?identifier=urn:oid:1.2.3.4|${id}`);
	const document = async (id: string): Promise<FhirBody> => {
		const [first, ...others] = await documents(id);
		assert.deepEqual(others, []);
		return first ?? assert.fail(`there is no document ${id}`);
	};
	const raw = async (url: string, headers: Record<string, string> = {}, as = key) => {
		const answer = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/${url}`, { headers: { 'X-API-Key': as, ...headers } });
		return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
	};
	const named = (id: string, patient: string) => ({ id: `root="1.2.3.4" extension="${id}"`, patients: [grace(patient)] });

	test('is committed, answered AA naming it, and read back as DocumentReference and Binary', async () => {
		const text = clinicalDocument({ ...named('E1', 'P1'), title: 'Übersicht', set: 'root="1.2.3.5" extension="E"', version: 1 });
		const answer = await post(text);
		assert.equal(answer.status, 200, answer.text);
		assert.equal(answer.type, 'application/xml; charset=utf-8');
		assert.deepEqual([ackOf(answer.text).code, ackOf(answer.text).target], ['AA', 'E1']);
		const [patient] = await found('/Patient?identifier=urn:oid:1.2.3|P1');
		assert.deepEqual([patient.name[0].family, patient.gender, patient.birthDate], ['Hopman', 'female', '1906-12-09']);
		const reference = await document('E1');
		const { attachment } = reference.content[0];
		assert.deepEqual([reference.status, reference.subject.reference], ['current', `Patient/${patient.id}`]);
		assert.equal(reference.description, 'Übersicht');
		assert.equal(attachment.size, Buffer.byteLength(text));
		assert.equal(attachment.hash, createHash('sha1').update(text).digest('base64'));
		const { status, headers, bytes } = await raw(attachment.url);
		assert.equal(status, 200);
		assert.equal(bytes.toString(), text);
		assert.deepEqual(
			['content-type', 'x-content-type-options', 'content-disposition', 'x-security-context'].map((name) => headers.get(name)),
			['text/xml', 'nosniff', 'attachment', `DocumentReference/${reference.id}`],
		);
		const head = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/${attachment.url}`, {
			method: 'HEAD',
			headers: { 'X-API-Key': key },
		});
		assert.deepEqual([head.status, head.headers.get('content-type'), await head.text()], [200, 'text/xml', '']);
		const { body: resource } = await service.fhir(`/fhir/${attachment.url}`, key, { Accept: 'application/fhir+json' });
		assert.equal(resource.resourceType, 'Binary');
		assert.equal(`Binary/${resource.id}`, attachment.url);
		assert.equal(resource.contentType, 'text/xml');
		assert.equal(Buffer.from(resource.data, 'base64').toString(), text);
		await setSite(service.administration, { slug: 'documents', deletes: true });
		for (const [method, headers] of [
			['PUT', { 'Content-Type': 'text/plain' }],
			['DELETE', {}],
		] as const) {
			const changed = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/${attachment.url}`, {
				...{ method, headers: { 'X-API-Key': key, ...headers } },
				...(method === 'PUT' ? { body: 'other' } : {}),
			});
			assert.equal(changed.status, 409, `${method}: a client does not change the bytes of a document`);
		}
		assert.equal((await raw(`${attachment.url}/_history/1`)).bytes.toString(), text);
		const { key: other } = await service.addSite('elsewhere');
		assert.equal((await raw(attachment.url, {}, other)).status, 404);
		assert.equal((await raw(attachment.url, {}, 'wrong')).status, 401);
		assert.equal((await raw(attachment.url, { Accept: 'application/fhir+xml' })).status, 406);
		assert.equal((await raw(attachment.url, { 'If-None-Match': 'W/"1"' })).status, 304);
		for (const format of ['json', 'xml']) {
			assert.equal((await raw(`${attachment.url}?_format=${format}`)).status, format === 'json' ? 200 : 406);
		}
	});

	test('an embedded file is a content of its own, in any size', async () => {
		const file = Buffer.from(Array.from({ length: 2_000_001 }, (_, index) => (index * 7919) % 251));
		const text = (attributes: string, content: string) =>
			`<component><nonXMLBody><text ${attributes}>${content}</text></nonXMLBody></component>`;
		const wrapped = file.toString('base64').replace(/(.{76})/g, '$1\r\n');
		await take(clinicalDocument({ ...named('N1', 'P2'), body: text('mediaType="application/pdf" representation="B64"', wrapped) }));
		const [, { attachment }] = (await document('N1')).content;
		assert.deepEqual([attachment.contentType, attachment.size], ['application/pdf', file.length]);
		const { headers, bytes } = await raw(attachment.url, { Accept: 'application/pdf' });
		assert.ok(bytes.equals(file));
		assert.deepEqual([headers.get('content-type'), headers.get('content-disposition')], ['application/pdf', null]);
		const resource = JSON.parse((await raw(`${attachment.url}?_format=json`)).bytes.toString());
		assert.ok(Buffer.from(resource.data, 'base64').equals(file));
	});

	test('the same document again is applied once; other bytes under its id update it', async () => {
		const text = clinicalDocument(named('S1', 'P3'));
		const [first, second] = [await post(text), await post(text)];
		assert.equal(second.text, first.text);
		const before = await document('S1');
		assert.equal(before.meta.versionId, '1');
		await take(text.replace('Summary', 'Corrected'));
		const after = await document('S1');
		assert.deepEqual([after.id, after.meta.versionId, after.description], [before.id, '2', 'Corrected']);
		assert.notEqual(after.content[0].attachment.url, before.content[0].attachment.url);
		assert.equal((await raw(before.content[0].attachment.url)).bytes.toString(), text, 'the earlier version has lost its bytes');
		const log = await service.rows<{ message_type: string; outcome: string; flags: { code: string }[] | null }>(
			`select message_type, outcome, flags from message_log where site_id = $1 and control_id = '1.2.3.4^S1' order by sequence`,
			[siteId],
		);
		assert.deepEqual(
			log.map(({ message_type: type, outcome, flags }) => [type, outcome, flags?.map(({ code }) => code)]),
			[
				['CDA 34133-9', 'accepted', undefined],
				['CDA 34133-9', 'duplicate', undefined],
				['CDA 34133-9', 'accepted', ['same-control-id']],
			],
		);
	});

	test('a newer version replaces; an older one that comes late is superseded and flagged', async () => {
		const version = (number: number) =>
			clinicalDocument({ ...named(`R${number}`, 'P4'), set: 'root="1.2.3.5" extension="R"', version: number });
		await take(version(2));
		await take(version(3));
		await take(version(1));
		const [first, second, third] = [await document('R1'), await document('R2'), await document('R3')];
		assert.deepEqual([first.status, second.status, third.status], ['superseded', 'superseded', 'current']);
		assert.deepEqual(third.relatesTo, [{ code: 'replaces', target: { reference: `DocumentReference/${second.id}` } }]);
		assert.deepEqual(
			(await found(`/DocumentReference?relatesto=DocumentReference/${second.id}`)).map(({ id }) => id),
			[third.id],
		);
		const [late] = await service.rows<{ flags: { code: string; text: string }[] }>(
			`select flags from message_log where site_id = $1 and control_id = '1.2.3.4^R1'`,
			[siteId],
		);
		assert.deepEqual(
			late?.flags.map(({ code }) => code),
			['late-document'],
		);
		const parent = relatedDocument('APND', '<id root="1.2.3.4" extension="R3"/>');
		await take(clinicalDocument({ ...named('R4', 'P4'), participants: parent }));
		assert.equal((await document('R4')).relatesTo[0].target.reference, `DocumentReference/${third.id}`);
	});

	test('the visit that it names is created, or the known one is left as it is', async () => {
		const componentOf = (status: string) =>
			`<componentOf><encompassingEncounter><id root="1.2.8" extension="VISIT"/><code code="IMP" codeSystem="2.16.840.1.113883.5.4"/>` +
			`<effectiveTime><low value="20260101"/>${status}</effectiveTime></encompassingEncounter></componentOf>`;
		await take(clinicalDocument({ ...named('V1', 'P5'), participants: componentOf('<high value="20260105"/>') }));
		const [visit] = await found('/Encounter?identifier=urn:oid:1.2.8|VISIT');
		assert.deepEqual([visit.status, visit.class.code, visit.period], ['finished', 'IMP', { start: '2026-01-01', end: '2026-01-05' }]);
		assert.deepEqual((await document('V1')).context.encounter, [{ reference: `Encounter/${visit.id}` }]);
		await take(clinicalDocument({ ...named('V2', 'P5'), participants: componentOf('') }));
		const [again, ...others] = await found('/Encounter?identifier=urn:oid:1.2.8|VISIT');
		assert.deepEqual([again.meta.versionId, others.length], ['1', 0]);
		assert.equal((await found(`/DocumentReference?encounter=${visit.id}`)).length, 2);
	});

	test('a merge takes documents along, and their sets become one', async () => {
		const version = (id: string, patient: string, number: number) =>
			clinicalDocument({ ...named(id, patient), set: 'root="1.2.3.5" extension="M"', version: number });
		await take(version('M1', 'PRIOR', 1));
		await take(clinicalDocument(named('M0', 'SURVIVOR')));
		await take(
			registryMessage({
				interaction: 'PRPA_IN201304UV02',
				id: 'root="2.25.40"',
				patients: ['<id root="1.2.3" extension="SURVIVOR"/>'],
				behind: replacementOf('root="1.2.3" extension="PRIOR"'),
			}),
		);
		const survivor = (await document('M0')).subject.reference;
		assert.equal((await document('M1')).subject.reference, survivor);
		await take(version('M2', 'PRIOR', 2));
		assert.deepEqual([(await document('M1')).status, (await document('M2')).subject.reference], ['superseded', survivor]);
	});

	test('a document about several patients is each one’s', async () => {
		await take(clinicalDocument({ ...named('G1', ''), patients: [grace('PA'), grace('PB')] }));
		const both = await documents('G1');
		assert.equal(new Set(both.map(({ subject }) => subject.reference)).size, 2);
		for (const { content } of both) assert.equal((await raw(content[0].attachment.url)).status, 200);
	});

	test('in a SOAP envelope it is answered in kind, and kept without the envelope', async () => {
		const text = clinicalDocument(named('W1', 'P6'))
			.replace(/^<\?xml[^>]*\?>\n/, '')
			.replace(' xmlns:sdtc="urn:hl7-org:sdtc"', '');
		const namespace = 'http://www.w3.org/2003/05/soap-envelope';
		const envelope = `<e:Envelope xmlns:e="${namespace}" xmlns:sdtc="urn:hl7-org:sdtc"><e:Body>${text}</e:Body></e:Envelope>`;
		const answer = await post(envelope, { 'Content-Type': 'application/soap+xml' });
		assert.deepEqual(new IndependentDocument(answer.text).names('/s12:Envelope/s12:Body/*'), ['MCCI_IN000002UV01']);
		const { bytes } = await raw((await document('W1')).content[0].attachment.url);
		assert.deepEqual(new IndependentDocument(bytes.toString()).names('/*'), ['ClinicalDocument']);
		assert.ok(bytes.toString().includes(text.slice(text.indexOf('>') + 1)));
		assert.match(bytes.toString(), /^<\?xml[^>]*\?>\n<ClinicalDocument [^>]*xmlns:sdtc="urn:hl7-org:sdtc"/);
	});

	test('with Accept: application/json the answer is that of /v2/ingest', async () => {
		const accepted = await post(clinicalDocument(named('J1', 'P7')), { Accept: 'application/json' });
		const { ack, ...rest } = JSON.parse(accepted.text);
		assert.deepEqual(rest, { success: true, message_type: 'CDA 34133-9' });
		assert.equal(ackOf(ack).code, 'AA');
	});

	test('what cannot be placed is refused with reason and place, and can be replayed', async () => {
		const none = '<id nullFlavor="NI"/>';
		for (const [text, reason, location] of [
			[clinicalDocument({ id: 'nullFlavor="UNK"' }), /no id/, '/ClinicalDocument/id'],
			[clinicalDocument({ patients: [none] }), /patientRole has no id/, '/ClinicalDocument/recordTarget/patientRole/id'],
			[clinicalDocument({ patients: [] }), /has no patient/, '/ClinicalDocument'],
			[clinicalDocument().replace('POCD_HD000040', 'POCD_HD000020'), /not of CDA R2/, '/ClinicalDocument/typeId'],
		] as const) {
			const answer = await post(text);
			assert.equal(answer.status, 422, answer.text);
			assert.deepEqual([ackOf(answer.text).code, ackOf(answer.text).location], ['AE', location]);
			assert.match(ackOf(answer.text).detail ?? '', reason);
		}
		assert.equal((await post(clinicalDocument().replace('urn:hl7-org:v3', 'urn:other'))).status, 400);
		assert.equal((await post(clinicalDocument(), { 'Content-Type': 'multipart/related' })).status, 415);
		const [refused] = await service.rows<{ id: string }>(
			`select id from message_log where site_id = $1 and outcome = 'refused' and message_type like 'CDA%' limit 1`,
			[siteId],
		);
		const [accepted] = await service.rows<{ id: string }>(
			`select id from message_log where site_id = $1 and outcome = 'accepted' and control_id = '1.2.3.4^E1'`,
			[siteId],
		);
		const before = await document('E1');
		for (const [message, outcome] of [
			[refused, 'refused'],
			[accepted, 'accepted'],
		] as const)
			assert.equal((await replayMessage(service.administration, message?.id ?? '')).outcome, outcome);
		assert.deepEqual(await document('E1'), before);
	});

	test('what attacks the reader is refused, what is only broken inside is kept', async () => {
		const body = (content: string) => `<component><nonXMLBody><text ${content}</text></nonXMLBody></component>`;
		const deep = clinicalDocument({ ...named('A1', 'P8'), body: '<component>'.repeat(100_000) });
		const declared = clinicalDocument(named('A2', 'P8')).replace('\n', '\n<!DOCTYPE a [<!ENTITY b "c">]>\n');
		for (const text of [deep, declared]) assert.equal((await post(text)).status, 400);
		const tooLong = await post(Buffer.alloc(50 * 1024 * 1024, 0x20)).catch((error: Error) => error);
		// The server may close the connection while the body is still on its way.
		if (!(tooLong instanceof Error)) assert.equal(tooLong.status, 413);
		const broken = [
			'mediaType="application/pdf" representation="B64">%%%',
			`mediaType="application/pdf" representation="B64">${'=A'.repeat(1_000_000)}`,
			'mediaType="x&#10;Set-Cookie: a=b" representation="B64">YQ==',
			'><reference value="file:///etc/passwd"/>',
		];
		for (const [index, content] of broken.entries()) {
			await take(clinicalDocument({ ...named(`B${index}`, 'P8'), body: body(content) }));
			const [log] = await service.rows<{ flags: unknown[] | null }>(
				`select flags from message_log where site_id = $1 and control_id = $2`,
				[siteId, `1.2.3.4^B${index}`],
			);
			assert.equal(log?.flags?.length, 1, content.slice(0, 60));
		}
		const { headers } = await raw((await document('B2')).content[1].attachment.url);
		assert.equal(headers.get('content-type'), 'application/octet-stream');
	});

	test('metrics count documents by their code', async () => {
		const text = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		assert.match(text, /tributary_hl7_messages_total\{surface="hl7-http",type="CDA",outcome="accepted"\} \d+/);
	});

	test('documents of the shared corpus are placed, or refused for a reason', { skip: without('corpus') }, async () => {
		const { key: own } = await service.addSite('corpus');
		const files = corpusFiles('cda');
		assert.equal(files.length, 81);
		const refused = new Map<string, number>();
		for (const { bytes } of files) {
			const answer = await post(Buffer.from(bytes), {}, own);
			if (answer.status === 200) continue;
			const reason = `${answer.status} ${ackOf(answer.text).detail?.split(':')[0]}`;
			refused.set(reason, (refused.get(reason) ?? 0) + 1);
		}
		assert.deepEqual(Object.fromEntries(refused), {
			// Examples that are cut out of documents without their namespace.
			'400 the element of the body is not in the namespace urn': 10,
			// A document type declaration.
			'400 the body is no XML that is taken': 1,
			// Another typeId, and none of the header: what these files are there to show.
			'422 the document is not of CDA R2': 2,
			'422 the message has no id': 1,
		});
	});
});
