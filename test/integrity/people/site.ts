import assert from 'node:assert/strict';
import { addClient } from '#administration/clients.ts';
import { setSite } from '#administration/sites.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { clinicalDocument } from '#test/support/cda.ts';
import { ctStorage, element, sequence } from '#test/support/data-set.ts';
import { registryMessage } from '#test/support/hl7v3.ts';
import { postV3 } from '#test/support/hl7v3-sender.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import type { FhirBody, TestService } from '#test/support/service.ts';
import type { AdminClient } from '#test/surfaces/admin/client.ts';
import { associate, data, type Peer, statusOf, store, value } from '#test/surfaces/dimse/peer.ts';
import { allResponses, ask, identifier, studyFind } from '#test/surfaces/dimse/questions.ts';
import { explicitLittleEndian } from '#test/surfaces/dimse/support.ts';
import type { SiteSettings } from './model.ts';
import { systemOf } from './steps.ts';

export interface Person {
	family: string;
	birthDate: string;
	sex: 'F' | 'M';
}

export function personOf(index: number): Person {
	const family = `Person${String.fromCharCode(65 + (index % 26))}${index}`;
	return { family, birthDate: `19${10 + (index % 80)}0101`, sex: index % 2 === 0 ? 'F' : 'M' };
}

/** An image as it is sent. */
export interface SentImage {
	readonly uid: string;
	readonly studyUid: string;
	readonly stated: string;
	readonly person: Person;
}

/** A study that is split off has a UID that nobody knows beforehand, and the description that its images state. */
export const descriptionOf = (studyUid: string, stated: string) => `${studyUid}/${stated}`;

export const bare = (number: string) => number.slice(systemOf(number).length + 1);

/** The name of the authority as DICOM writes it: an OID or a namespace. */
const issuerOf = (number: string) => systemOf(number).replace(/^urn:(?:oid|id):/, '');
const isOid = (number: string) => systemOf(number).startsWith('urn:oid:');

/** CX (v2.5.1 §2.A.14). */
export const cx = (number: string) =>
	systemOf(number) === '' ? bare(number) : `${bare(number)}^^^${isOid(number) ? `&${issuerOf(number)}&ISO` : issuerOf(number)}`;

/** II: a namespace is the name of the authority, where there is no root. */
function instanceId(number: string): string {
	const authority = isOid(number) ? `root="${issuerOf(number)}"` : `assigningAuthorityName="${issuerOf(number)}"`;
	return `<id ${authority} extension="${bare(number)}"/>`;
}

function issuerElement(number: string): Buffer {
	if (!isOid(number)) return element(0x0010_0021, 'LO', issuerOf(number));
	return sequence(0x0010_0024, [Buffer.concat([element(0x0040_0032, 'UT', issuerOf(number)), element(0x0040_0033, 'CS', 'ISO')])]);
}

/** A study as a query answers it. */
export interface FoundStudy {
	readonly uid: string;
	readonly description: string;
	readonly patientId: string;
}

/** A site of its own, and the ways into it and out of it. */
export class PeopleSite {
	readonly slug: string;
	readonly #service: TestService;
	readonly #admin: AdminClient;
	readonly #key: string;
	readonly #mllp: MllpClient;
	readonly #peer: Peer;
	readonly #bulk: BulkClient;
	readonly #ends: (() => void)[];
	#sent = 0;

	private constructor(
		service: TestService,
		admin: AdminClient,
		slug: string,
		key: string,
		mllp: MllpClient,
		peer: Peer,
		ends: (() => void)[],
	) {
		this.slug = slug;
		this.#service = service;
		this.#admin = admin;
		this.#key = key;
		this.#mllp = mllp;
		this.#peer = peer;
		this.#ends = ends;
		this.#bulk = new BulkClient(service, key);
	}

	static async open(service: TestService, admin: AdminClient, slug: string, { mismatch, otherPatient }: SiteSettings): Promise<PeopleSite> {
		const { key } = await service.addSite(slug, { sending_application: slug, also: ['A37'] });
		const aeTitle = slug.toUpperCase();
		await setSite(service.administration, { slug, ae_title: aeTitle, mismatch, other_patient: otherPatient });
		const dicom = { site: slug, name: 'archive', protocols: ['dicom' as const], allowed_ips: ['127.0.0.1'], grants: ['query' as const] };
		await addClient(service.administration, dicom);
		const ends: (() => void)[] = [];
		const contexts: Record<number, [string, string]> = { 1: [studyFind, explicitLittleEndian], 7: [ctStorage, explicitLittleEndian] };
		const peer = await associate({ after: (end) => ends.push(end) }, service.port('dimse'), { called: aeTitle, contexts });
		return new PeopleSite(service, admin, slug, key, await MllpClient.connect(service.port('mllp')), peer, ends);
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
	async image({ uid, studyUid, stated, person: { family, sex, birthDate } }: SentImage): Promise<number | undefined> {
		const elements = [
			element(0x0008_0016, 'UI', ctStorage),
			element(0x0008_0018, 'UI', uid),
			element(0x0008_0060, 'CS', 'CT'),
			element(0x0008_1030, 'LO', descriptionOf(studyUid, stated)),
			element(0x0010_0010, 'PN', `${family}^Ann`),
			element(0x0010_0020, 'LO', bare(stated)),
			...(systemOf(stated) === '' ? [] : [issuerElement(stated)]),
			element(0x0010_0030, 'DA', birthDate),
			element(0x0010_0040, 'CS', sex),
			element(0x0020_000d, 'UI', studyUid),
			element(0x0020_000e, 'UI', `${studyUid}.1`),
			element(0x7fe0_0010, 'OW', Buffer.alloc(16)),
		];
		const command = store((++this.#sent % 0xffff) + 1, { 2: ctStorage, 4096: uid });
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

	/** A request to the FHIR surface. */
	async #fhir(
		method: string,
		path: string,
		body?: unknown,
		headers: Record<string, string> = {},
	): Promise<{ status: number; body: FhirBody }> {
		const url = path.startsWith('http') ? path : `http://127.0.0.1:${this.#service.port('fhir')}/fhir${path}`;
		const sent = body === undefined ? {} : { body: JSON.stringify(body) };
		// To compress costs more than all the rest of a small answer.
		const all = {
			'X-API-Key': this.#key,
			'Accept-Encoding': 'identity',
			...(body === undefined ? {} : { 'Content-Type': 'application/fhir+json' }),
			...headers,
		};
		const answer = await fetch(url, { method, headers: all, ...sent });
		return { status: answer.status, body: await answer.json() };
	}

	/** The resources of a search or of `$everything`, of all its pages. */
	async everyPage(path: string): Promise<FhirBody[]> {
		const found: FhirBody[] = [];
		for (let next: string | undefined = path; next !== undefined; ) {
			const { status, body }: { status: number; body: FhirBody } = await this.#fhir('GET', next);
			assert.equal(status, 200, JSON.stringify(body));
			for (const { resource } of body.entry ?? []) found.push(resource);
			next = body.link.find(({ relation }: FhirBody) => relation === 'next')?.url;
		}
		return found;
	}

	/** The FHIR id of the one patient who has a number as their own. */
	async patientWith(number: string): Promise<string> {
		const found = await this.everyPage(`/Patient?identifier=${number}`);
		const own = found.filter(({ identifier }) =>
			identifier.some(({ system = '', value, use }: FhirBody) => `${system}|${value}` === number && use !== 'old'),
		);
		assert.equal(own.length, 1, `one patient has ${number} as their own`);
		return own[0].id;
	}

	async fhirResult(tag: string, patientId: string): Promise<void> {
		assert.equal((await this.#fhir('POST', '/Observation', observation(tag, patientId))).status, 201);
	}

	async importedResult(tag: string, patientId: string): Promise<void> {
		const status = await this.#bulk.startImport([observation(tag, patientId)]);
		const { output } = await this.#bulk.manifest(status);
		assert.deepEqual(
			output.map(({ count }: FhirBody) => count),
			[1],
		);
		// A site keeps only so many of them.
		assert.equal((await this.#bulk.call('DELETE', status)).status, 202);
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
		return (await this.#fhir('POST', '/Patient', patient, { 'If-None-Exist': `identifier=${number}` })).status;
	}

	/** A person's decision in the console. */
	async edit(path: string, body: object = {}): Promise<FhirBody> {
		const answer = await this.#admin.call(`/api/v1/sites/${this.slug}/${path}`, { method: 'POST', body });
		assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
		return answer.body;
	}

	/** The status of a person's decision that may be refused. */
	async attempt(path: string): Promise<number> {
		return (await this.#admin.call(`/api/v1/sites/${this.slug}/${path}`, { method: 'POST', body: {} })).status;
	}

	/** The doubts on the work list, open or settled. */
	async doubts(settled: boolean): Promise<FhirBody[]> {
		const found: FhirBody[] = [];
		for (let after: string | undefined; ; ) {
			const { doubts, next } = await this.edit('identity/search', { kind: 'doubt', settled, limit: 100, after });
			found.push(...doubts);
			if (next === null) return found;
			after = next;
		}
	}

	/** The images that are kept aside, by SOP Instance UID, with the ids of their conflicts. */
	async aside(): Promise<Map<string, string>> {
		const found = new Map<string, string>();
		for (let before = ''; ; ) {
			const answer = await this.#admin.call(`/api/v1/conflicts?site=${this.slug}&limit=100${before}`);
			assert.equal(answer.status, 200, JSON.stringify(answer.body));
			for (const { id, sop_instance_uid: uid } of answer.body) found.set(uid, id);
			if (answer.body.length < 100) return found;
			before = `&before=${answer.body.at(-1).id}`;
		}
	}

	/** A person decides about an image that is kept aside. */
	async decide(uid: string, keep: 'stored' | 'received' | 'split'): Promise<number> {
		const id = (await this.aside()).get(uid);
		return (await this.#admin.call(`/api/v1/conflicts/${id}/settle`, { method: 'POST', body: { keep } })).status;
	}

	/** The page of a patient in the console. */
	async page(id: string): Promise<FhirBody> {
		const answer = await this.#admin.call(`/api/v1/sites/${this.slug}/patients/${id}`, { headers: { 'Accept-Encoding': 'identity' } });
		assert.equal(answer.status, 200, JSON.stringify(answer.body));
		return answer.body;
	}

	/** The studies that C-FIND finds by patient ids of one issuer. */
	async found(numbers: readonly string[]): Promise<FoundStudy[]> {
		const keys = identifier(
			[0x0008_0052, 'CS', 'STUDY'],
			[0x0008_1030, 'LO', ''],
			[0x0010_0020, 'LO', numbers.map(bare).join('\\')],
			[0x0010_0021, 'LO', issuerOf(numbers[0] ?? '')],
			[0x0020_000d, 'UI', ''],
		);
		this.#peer.write(ask(1, keys));
		const answers = await allResponses(this.#peer);
		return answers.flatMap(({ dataSet }) =>
			dataSet === undefined
				? []
				: [
						{
							uid: textIn(dataSet, 0x0020, 0x000d),
							description: textIn(dataSet, 0x0008, 0x1030),
							patientId: textIn(dataSet, 0x0010, 0x0020),
						},
					],
		);
	}

	/** The same by QIDO-RS. An asterisk stands for any Patient ID. */
	async foundByWeb(number: string): Promise<FoundStudy[]> {
		const query = `PatientID=${bare(number)}&IssuerOfPatientID=${issuerOf(number)}&includefield=00081030`;
		const answer = await fetch(`http://127.0.0.1:${this.#service.port('fhir')}/dicomweb/studies?${query}`, {
			headers: { 'X-API-Key': this.#key, 'Accept-Encoding': 'identity' },
		});
		assert.ok(answer.status === 200 || answer.status === 204, String(answer.status));
		assert.equal(answer.headers.get('warning'), null, 'one answer has all studies');
		const studies = (answer.status === 204 ? [] : await answer.json()) as FhirBody[];
		const text = (study: FhirBody, tag: string) => study[tag].Value[0];
		return studies.map((study) => ({
			uid: text(study, '0020000D'),
			description: text(study, '00081030'),
			patientId: text(study, '00100020'),
		}));
	}
}

/** The text of an element that is known to stand in a data set in explicit VR, with a short length. */
function textIn(dataSet: Buffer, group: number, number: number): string {
	const tag = Buffer.alloc(4);
	tag.writeUInt16LE(group);
	tag.writeUInt16LE(number, 2);
	const at = dataSet.indexOf(tag);
	const length = dataSet.readUInt16LE(at + 6);
	return dataSet.toString('latin1', at + 8, at + 8 + length).replace(/[\0 ]+$/, '');
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
