import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addAuthority, joinAuthorities, listAuthorities, previewJoin, undoAuthority } from '#administration/authorities.ts';
import type { OperationContext } from '#administration/context.ts';
import { listIdentity } from '#administration/identity-work.ts';
import { listLoggedMessages, replayMessage } from '#administration/messages.ts';
import { searchPatients } from '#administration/patients.ts';
import { setSite } from '#administration/sites.ts';
import { type GivenImage, opened, sendImages } from '#test/support/images.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

const image = (number: number, more: Partial<GivenImage>): GivenImage => ({
	...{ studyUid: `1.2.${number}`, seriesUid: `1.2.${number}.1`, sopInstanceUid: `1.2.${number}.1.1`, modality: 'CT' },
	...more,
});

/** A service with the site `north`, which takes images from everywhere, and a sender of HL7 v2. */
class North implements AsyncDisposable {
	readonly service: TestService;
	readonly key: string;
	readonly context: OperationContext;
	readonly #client: MllpClient;
	#sent = 0;

	private constructor(service: TestService, key: string, client: MllpClient) {
		this.service = service;
		this.key = key;
		this.context = { ...service.administration, visibleSites: ['north'] };
		this.#client = client;
	}

	static async open(): Promise<North> {
		const service = await testService();
		const { key } = await service.addSite('north');
		await opened(service, 'north');
		return new North(service, key, await MllpClient.connect(service.port('mllp')));
	}

	/** Sends a message, and returns its acknowledgement. */
	async send(type: string, ...segments: string[]) {
		const header = `MSH|^~\\&|LAB|NORTH|||20260105||${type}|${++this.#sent}|P|2.5.1`;
		return msa(await this.#client.send([header, ...segments].join('\r')));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#client.close();
		await this.service[Symbol.asyncDispose]();
	}
}

describe('one patient by MLLP, C-STORE and FHIR', () => {
	test('under every name of an authority, under every number, and what differs is listed', async () => {
		await using north = await North.open();
		const { service, key, context } = north;
		const accepted = async (type: string, ...segments: string[]) => assert.equal((await north.send(type, ...segments)).code, 'AA');
		const images = (...list: GivenImage[]) => sendImages(service.port('dimse'), 'NORTH', list);
		const total = async (query: string) => ((await service.fhir(`/fhir/${query}`, key)).body as FhirBody).entry?.length ?? 0;
		const numbers = async () => (await searchPatients(context, { site: 'north', text: '', limit: 50 })).length;
		const doubts = async () =>
			(await listIdentity(context, { site: 'north', kind: 'doubt', limit: 50 })).doubts.map(({ kind, count }) => `${kind} ${count}`).sort();
		// A namespace and an OID in one CX are one authority from then on, wherever either of them comes from.
		await accepted('ADT^A04', 'PID|1||L2^^^HOSP&1.2.3.4&ISO^MR||Right^Ann||19500101|F');
		await images(image(1, { patientId: 'L2', patientIssuer: 'HOSP' }), image(2, { patientId: 'L2', universalIssuer: '1.2.3.4' }));
		await accepted('ORU^R01', 'PID|1||L2^^^HOSP', 'OBR|1||F1|1^A', 'OBX|1|NM|2^B||1|mg/dL|||||F');
		await images(image(3, { patientId: 'L2' }));
		assert.equal(await numbers(), 1);
		for (const system of ['urn:id:HOSP', 'urn:oid:1.2.3.4']) {
			assert.equal(await total(`Patient?identifier=${system}%7CL2`), 1, system);
			assert.equal(await total(`ImagingStudy?patient.identifier=${system}%7CL2`), 3, system);
		}
		assert.equal(await total('Patient?identifier=urn:id:HOSP%7C'), 1);
		assert.equal(await total('Patient?identifier=urn:id:OTHER%7CL2'), 0);
		const conditional = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient`, {
			method: 'POST',
			headers: { 'X-API-Key': key, 'Content-Type': 'application/fhir+json', 'If-None-Exist': 'identifier=urn:id:HOSP|L2' },
			body: JSON.stringify({ resourceType: 'Patient' }),
		});
		assert.equal(conditional.status, 200);
		// DICOM states both as well.
		await images(image(4, { patientId: 'D1', patientIssuer: 'XRAY', universalIssuer: '1.2.3.9' }));
		await accepted('ADT^A08', 'PID|1||D1^^^XRAY');
		assert.equal(await numbers(), 2);
		assert.deepEqual(
			(await listAuthorities(context, { site: 'north' })).map(({ system, other, origin }) => [system, other, origin]),
			[
				['urn:id:HOSP', 'urn:oid:1.2.3.4', 'learned'],
				['urn:id:XRAY', 'urn:oid:1.2.3.9', 'learned'],
			],
		);
		// An enterprise number in front of a known one, then alone.
		await accepted('ADT^A08', 'PID|1||E9^^^MPI^PI~L2^^^HOSP^MR||Right^Ann||19500101|F');
		await accepted('ORU^R01', 'PID|1||E9^^^MPI', 'OBR|1||F2|1^A', 'OBX|1|NM|2^B||1|mg/dL|||||F');
		assert.equal(await numbers(), 2);
		assert.equal(await total('Observation?patient.identifier=L2'), 2);
		assert.deepEqual(await doubts(), []);
		// Another person under a known number: a result, and an image.
		await accepted('ORU^R01', 'PID|1||E9^^^MPI||Wrong^Bob||19800102|M', 'OBR|1||F3|1^A', 'OBX|1|NM|2^B||1|mg/dL|||||F');
		await images(image(5, { patientId: 'L2', patientName: 'Wrong^Bob', birthDate: '19800102', sex: 'M' }));
		assert.deepEqual(await doubts(), ['mismatch 1', 'mismatch 1']);
		const flags = await service.rows<{ flags: { code: string }[] | null }>('select flags from message_log where flags is not null');
		assert.deepEqual(
			flags.flatMap((row) => (row.flags ?? []).map(({ code }) => code)),
			['mismatch'],
		);
		// The sender's setting: held until a person accepts it.
		await setSite(service.administration, { slug: 'north', mismatch: 'hold' });
		const held = ['PID|1||E9^^^MPI||Other^Eve||19700303|M', 'OBR|1||F4|1^A', 'OBX|1|NM|2^B||1|mg/dL|||||F'];
		await accepted('ORU^R01', ...held);
		assert.equal(await total('Observation?patient.identifier=L2'), 3);
		const [doubt] = (await listIdentity(context, { site: 'north', kind: 'mismatch', limit: 50 })).doubts;
		assert.match(doubt?.text ?? '', /it is held until a person accepts it/);
		assert.equal(doubt?.held, true);
		const [flagged] = await listLoggedMessages(context, { outcome: 'ignored', limit: 1 });
		assert.equal(flagged?.id, doubt?.last.message);
		assert.equal((await replayMessage(context, flagged?.id ?? '')).outcome, 'ignored');
		assert.equal((await replayMessage(context, flagged?.id ?? '', { acceptMismatch: true })).outcome, 'accepted');
		assert.equal(await total('Observation?patient.identifier=L2'), 4);
		await setSite(service.administration, { slug: 'north', mismatch: 'accept' });
		await accepted('ORU^R01', ...held.slice(0, 1), ...held.slice(1).map((segment) => segment.replace('F4', 'F5')));
		assert.deepEqual(await doubts(), ['mismatch 1', 'mismatch 1'], 'the accepted one is settled');
		// Numbers of two patients.
		await accepted('ADT^A08', 'PID|1||L2^^^HOSP~D1^^^XRAY||Right^Ann||19500101|F');
		assert.deepEqual(await doubts(), ['identifiers-disagree 1', 'mismatch 1', 'mismatch 1']);
		const merged = await north.send('ADT^A40', 'PID|1||N1^^^HOSP', 'MRG|L2^^^HOSP~D1^^^XRAY');
		assert.equal(merged.code, 'AE');
		assert.match(merged.text, /MRG-1 has numbers of several patients/);
		assert.equal(await numbers(), 2);
		// A number without an authority that two patients have: refused, listed, and settled by their merge.
		for (const authority of ['A', 'B']) await accepted('ADT^A08', `PID|1||S1^^^${authority}||Same^Ann`);
		assert.deepEqual(await north.send('ADT^A08', 'PID|1||S1||Same^Ann').then(({ code }) => code), 'AE');
		assert.ok((await doubts()).includes('number-ambiguous 1'));
		await accepted('ADT^A40', 'PID|1||S1^^^A', 'MRG|S1^^^B');
		assert.deepEqual(await doubts(), ['identifiers-disagree 1', 'mismatch 1', 'mismatch 1']);
		// A FHIR client may create a second patient of one number; it is listed, once.
		for (const method of ['POST', 'PUT', 'PUT']) {
			const { status } = await fetch(`http://127.0.0.1:${service.port('fhir')}/fhir/Patient${method === 'PUT' ? '/another' : ''}`, {
				method,
				headers: { 'X-API-Key': key, 'Content-Type': 'application/fhir+json' },
				body: JSON.stringify({
					...{ resourceType: 'Patient', ...(method === 'PUT' && { id: 'another' }) },
					identifier: [{ system: 'urn:oid:7', value: 'F1' }],
				}),
			});
			assert.ok(status < 300, String(status));
		}
		assert.deepEqual(await doubts(), ['identifiers-disagree 1', 'mismatch 1', 'mismatch 1', 'number-shared 1']);
	});

	test('when a person joins two names: previewed, merged, taken back, and images without an issuer are taken again', async () => {
		await using north = await North.open();
		const { service, key, context } = north;
		const send = async (pid: string) => assert.equal((await north.send('ADT^A08', pid)).code, 'AA', pid);
		const found = async (system: string) =>
			((await service.fhir(`/fhir/Patient?identifier=${system}%7CM7`, key)).body as FhirBody).entry?.map(
				({ resource }: FhirBody) => resource.id,
			);
		const names = { site: 'north', system: 'HOSP', other: '1.2.3.4' };
		await send('PID|1||M7^^^HOSP||Doe^Jane');
		await send('PID|1||M7^^^&1.2.3.4&ISO||Doe^Jane');
		await send('PID|1||M8^^^&1.2.3.4&ISO||Roe^Mary');
		const [[survivor], [prior]] = [await found('urn:id:HOSP'), await found('urn:oid:1.2.3.4')];
		const preview = await previewJoin(context, names);
		assert.deepEqual([preview.count, preview.pairs.map((pair) => [pair.survivor.id, pair.prior.id])], [1, [[survivor, prior]]]);
		await assert.rejects(addAuthority(context, names), /authority preview/);
		assert.deepEqual(await joinAuthorities(context, names), {
			...{ system: 'urn:id:HOSP', other: 'urn:oid:1.2.3.4' },
			...{ merged: 1, more: false },
		});
		await sendImages(service.port('dimse'), 'NORTH', [image(7, { patientId: 'M7' }), image(8, { patientId: 'M8', patientIssuer: 'HOSP' })]);
		const studies = (await service.fhir('/fhir/ImagingStudy?_sort=_id', key)).body as FhirBody;
		assert.equal(studies.entry[0].resource.subject.reference, `Patient/${survivor}`);
		await send('PID|1||M7^^^&1.2.3.4&ISO||Doe^Jane');
		assert.equal((await searchPatients(context, { site: 'north', text: '', limit: 50 })).filter(({ active }) => active).length, 2);

		assert.deepEqual(await undoAuthority(context, names), { system: 'urn:id:HOSP', other: 'urn:oid:1.2.3.4', unmerged: 1 });
		assert.deepEqual([await found('urn:id:HOSP'), await found('urn:oid:1.2.3.4')], [[survivor], [prior]]);
		await send('PID|1||M9^^^HOSP&1.2.3.4&ISO||Moe^Ann');
		const [alias] = await listAuthorities(context, { site: 'north' });
		assert.equal(alias?.ended?.by, 'test', 'what a person took back is not learned again');
		await assert.rejects(undoAuthority(context, names), { fault: 'not-found' });
		assert.deepEqual(
			await service.rows("select action from audit_event where action like 'authority.%' order by id"),
			['authority.preview', 'authority.join', 'authority.undo'].map((action) => ({ action })),
		);
	});
});
