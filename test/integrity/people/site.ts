import assert from 'node:assert/strict';
import { addClient } from '#administration/clients.ts';
import { mergePatients, unmergePatients } from '#administration/identity.ts';
import { setSite } from '#administration/sites.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { clinicalDocument } from '#test/support/cda.ts';
import { ctStorage, element, sequence } from '#test/support/data-set.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { registryMessage } from '#test/support/hl7v3.ts';
import { postV3 } from '#test/support/hl7v3-sender.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import type { FhirBody, TestService } from '#test/support/service.ts';
import { associate, data, type Peer, statusOf, store, value } from '#test/surfaces/dimse/peer.ts';
import { allResponses, ask, identifier, studyFind } from '#test/surfaces/dimse/questions.ts';
import { explicitLittleEndian } from '#test/surfaces/dimse/support.ts';
import { systemOf } from './model.ts';

export interface Person {
	family: string;
	birthDate: string;
	sex: 'F' | 'M';
}

export function personOf(index: number): Person {
	const family = `Person${String.fromCharCode(65 + (index % 26))}${index}`;
	return { family, birthDate: `19${10 + (index % 80)}0101`, sex: index % 2 === 0 ? 'F' : 'M' };
}

export const bare = (number: string) => number.slice(systemOf(number).length + 1);

/** The name of the authority as DICOM writes it: an OID or a namespace. */
const issuerOf = (number: string) => systemOf(number).replace(/^urn:(?:oid|id):/, '');
const isOid = (number: string) => systemOf(number).startsWith('urn:oid:');

/** CX (v2.5.1 §2.A.14). */
export const cx = (number: string) => `${bare(number)}^^^${isOid(number) ? `&${issuerOf(number)}&ISO` : issuerOf(number)}`;

/** II: a namespace is the name of the authority, where there is no root. */
function instanceId(number: string): string {
	const authority = isOid(number) ? `root="${issuerOf(number)}"` : `assigningAuthorityName="${issuerOf(number)}"`;
	return `<id ${authority} extension="${bare(number)}"/>`;
}

function issuerElement(number: string): Buffer {
	if (!isOid(number)) return element(0x0010_0021, 'LO', issuerOf(number));
	return sequence(0x0010_0024, [Buffer.concat([element(0x0040_0032, 'UT', issuerOf(number)), element(0x0040_0033, 'CS', 'ISO')])]);
}

/** A site of its own, and the ways into it and out of it. */
export class PeopleSite {
	readonly slug: string;
	readonly call: FhirCall;
	readonly #service: TestService;
	readonly #key: string;
	readonly #mllp: MllpClient;
	readonly #peer: Peer;
	readonly #bulk: BulkClient;
	readonly #ends: (() => void)[];
	#sent = 0;

	private constructor(service: TestService, slug: string, key: string, mllp: MllpClient, peer: Peer, ends: (() => void)[]) {
		this.slug = slug;
		this.#service = service;
		this.#key = key;
		this.#mllp = mllp;
		this.#peer = peer;
		this.#ends = ends;
		this.call = fhirClient(service, key);
		this.#bulk = new BulkClient(service, key);
	}

	static async open(service: TestService, slug: string): Promise<PeopleSite> {
		const { key } = await service.addSite(slug, { sending_application: slug, also: ['A37'] });
		const aeTitle = slug.toUpperCase();
		await setSite(service.administration, { slug, ae_title: aeTitle });
		const dicom = { site: slug, name: 'archive', protocols: ['dicom' as const], allowed_ips: ['127.0.0.1'], grants: ['query' as const] };
		await addClient(service.administration, dicom);
		const ends: (() => void)[] = [];
		const contexts: Record<number, [string, string]> = { 1: [studyFind, explicitLittleEndian], 7: [ctStorage, explicitLittleEndian] };
		const peer = await associate({ after: (end) => ends.push(end) }, service.port('dimse'), { called: aeTitle, contexts });
		return new PeopleSite(service, slug, key, await MllpClient.connect(service.port('mllp')), peer, ends);
	}

	close(): void {
		this.#mllp.close();
		for (const end of this.#ends) end();
	}

	/** Returns the acknowledgement's code. */
	async v2(event: string, segments: readonly string[]): Promise<string> {
		const header = `MSH|^~\\&|${this.slug}|HOSP|||20260101||${event}|${++this.#sent}|P|2.5.1`;
		return msa(await this.#mllp.send([header, 'EVN||20260101', ...segments].join('\r'))).code ?? '';
	}

	async v3(numbers: readonly string[], person: Person): Promise<void> {
		const id = `root="2.2.2" extension="${this.slug}-${++this.#sent}"`;
		const answer = await postV3(this.#service, this.#key, registryMessage({ id, patients: [v3Patient(numbers, person)] }), {});
		assert.equal(answer.status, 200, answer.text);
	}

	async document(tag: string, numbers: readonly string[], { family, sex, birthDate }: Person): Promise<void> {
		const ids = numbers.map(instanceId).join('');
		const name = `<name use="L"><given>Ann</given><family>${family}</family></name>`;
		const gender = `<administrativeGenderCode code="${sex}" codeSystem="2.16.840.1.113883.5.1"/>`;
		const patient = `${ids}<patient>${name}${gender}<birthTime value="${birthDate}"/></patient>`;
		const text = clinicalDocument({ id: `root="1.2.3.4" extension="${tag}"`, patients: [patient] });
		const answer = await postV3(this.#service, this.#key, text, {});
		assert.equal(answer.status, 200, answer.text);
	}

	/** Returns the status of C-STORE. */
	async image(studyUid: string, number: string, { family, sex, birthDate }: Person): Promise<number | undefined> {
		const sopInstanceUid = `${studyUid}.1.${++this.#sent}`;
		const elements = [
			element(0x0008_0016, 'UI', ctStorage),
			element(0x0008_0018, 'UI', sopInstanceUid),
			element(0x0008_0060, 'CS', 'CT'),
			element(0x0010_0010, 'PN', `${family}^Ann`),
			element(0x0010_0020, 'LO', bare(number)),
			issuerElement(number),
			element(0x0010_0030, 'DA', birthDate),
			element(0x0010_0040, 'CS', sex),
			element(0x0020_000d, 'UI', studyUid),
			element(0x0020_000e, 'UI', `${studyUid}.1`),
			element(0x7fe0_0010, 'OW', Buffer.alloc(16)),
		];
		const command = store((this.#sent % 0xffff) + 1, { 2: ctStorage, 4096: sopInstanceUid });
		this.#peer.write(data(value(7, 'command', command), value(7, 'data', Buffer.concat(elements))));
		return statusOf(await this.#peer.next());
	}

	async procedureStep(number: string): Promise<void> {
		const uid = `1.2.9.${++this.#sent}`;
		const attributes = { '00100020': { vr: 'LO', Value: [bare(number)] } };
		const answer = await fetch(`http://127.0.0.1:${this.#service.port('mpps')}/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': this.#key, 'Content-Type': 'application/json' },
			body: JSON.stringify({ sop_instance_uid: uid, study_uid: `${uid}.1`, status: 'IN PROGRESS', attributes }),
		});
		assert.equal(answer.status, 200, await answer.text());
	}

	async fhirResult(tag: string, patientId: string): Promise<void> {
		assert.equal((await this.call('POST', '/Observation', observation(tag, patientId))).status, 201);
	}

	async importedResult(tag: string, patientId: string): Promise<void> {
		const { output } = await this.#bulk.manifest(await this.#bulk.startImport([observation(tag, patientId)]));
		assert.deepEqual(
			output.map(({ count }: FhirBody) => count),
			[1],
		);
	}

	/** A conditional create; returns the status. */
	async fhirPatient(number: string, { family, sex }: Person): Promise<number> {
		const gender = sex === 'F' ? 'female' : 'male';
		const patient = {
			resourceType: 'Patient',
			identifier: [{ system: systemOf(number), value: bare(number) }],
			name: [{ family }],
			gender,
		};
		return (await this.call('POST', '/Patient', patient, { 'If-None-Exist': `identifier=${number}` })).status;
	}

	async mergedByPerson(survivor: string, prior: string): Promise<void> {
		await mergePatients(this.#service.administration, { site: this.slug, survivor, prior });
	}

	async unmergedByPerson(survivor: string, prior: string): Promise<void> {
		await unmergePatients(this.#service.administration, { site: this.slug, survivor, prior });
	}

	/** The study UIDs that C-FIND returns for a patient id and its issuer. */
	async found(number: string): Promise<string[]> {
		const level = [0x0008_0052, 'CS', 'STUDY'] as const;
		const keys = identifier([...level], [0x0010_0020, 'LO', bare(number)], [0x0010_0021, 'LO', issuerOf(number)], [0x0020_000d, 'UI', '']);
		this.#peer.write(ask(1, keys));
		const answers = await allResponses(this.#peer);
		return answers.flatMap(({ dataSet }) => (dataSet === undefined ? [] : [studyUidIn(dataSet)])).sort();
	}

	/** The same by QIDO-RS. */
	async foundByWeb(number: string): Promise<string[]> {
		const query = `PatientID=${bare(number)}&IssuerOfPatientID=${issuerOf(number)}&limit=100`;
		const answer = await fetch(`http://127.0.0.1:${this.#service.port('fhir')}/dicomweb/studies?${query}`, {
			headers: { 'X-API-Key': this.#key },
		});
		assert.ok(answer.status === 200 || answer.status === 204, String(answer.status));
		const studies: FhirBody = answer.status === 204 ? [] : await answer.json();
		return studies.map((study: FhirBody) => study['0020000D'].Value[0]).sort();
	}

	get administration(): TestService['administration'] {
		return this.#service.administration;
	}
}

function studyUidIn(dataSet: Buffer): string {
	const at = dataSet.indexOf(Buffer.from([0x20, 0, 0x0d, 0, 0x55, 0x49]));
	const length = dataSet.readUInt16LE(at + 6);
	return dataSet.toString('latin1', at + 8, at + 8 + length).replace(/\0$/, '');
}

function v3Patient(numbers: readonly string[], { family, sex, birthDate }: Person): string {
	const ids = numbers.map(instanceId).join('');
	return (
		`${ids}<patientPerson classCode="PSN"><name><given>Ann</given><family>${family}</family></name>` +
		`<administrativeGenderCode code="${sex}"/><birthTime value="${birthDate}"/></patientPerson>`
	);
}

const observation = (tag: string, patientId: string) => ({
	resourceType: 'Observation',
	status: 'final',
	code: { coding: [{ system: 'urn:tags', code: tag }] },
	subject: { reference: `Patient/${patientId}` },
});

export function pid(numbers: readonly string[], { family, birthDate, sex }: Person, sequenceNumber = 1): string {
	return `PID|${sequenceNumber}||${numbers.map(cx).join('~')}||${family}^Ann||${birthDate}|${sex}`;
}
