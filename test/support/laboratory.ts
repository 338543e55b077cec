import assert from 'node:assert/strict';
import { type FhirCall, fhirClient } from './fhir-client.ts';
import { MllpClient, msa } from './mllp-client.ts';
import { type FhirBody, type TestService, testService } from './service.ts';

/** A service with a site to which a laboratory sends results over MLLP, and what FHIR shows of them. */
export class Laboratory {
	readonly #service: TestService;
	readonly #call: FhirCall;
	readonly #mllp: MllpClient;
	#messages = 0;

	private constructor(service: TestService, call: FhirCall, mllp: MllpClient) {
		this.#service = service;
		this.#call = call;
		this.#mllp = mllp;
	}

	static async open(): Promise<Laboratory> {
		const service = await testService();
		const call = fhirClient(service, (await service.addSite('west')).key);
		return new Laboratory(service, call, await MllpClient.connect(service.port('mllp')));
	}

	/** Sends an ORU^R01 of the segments, which has to be taken; returns the codes of its flags, sorted. Each is made a day after the one before. */
	async send(...segments: string[]): Promise<string[]> {
		const controlId = `L${++this.#messages}`;
		const day = new Date(Date.UTC(2026, 0, 9 + this.#messages)).toISOString().slice(0, 10);
		const made = `${day.replaceAll('-', '')}110000-0500`;
		const header = `MSH|^~\\&|LAB|HOSP|||${made}||ORU^R01|${controlId}|P|2.5.1`;
		const { code, text } = msa(await this.#mllp.send([header, ...segments].join('\r')));
		assert.equal(code, 'AA', text);
		const [logged] = await this.#service.rows<{ flags: { code: string }[] | null }>('select flags from message_log where control_id = $1', [
			controlId,
		]);
		return (logged?.flags ?? []).map((flag) => flag.code).sort();
	}

	/** Returns what FHIR has of a type and a patient. */
	async all(type: string, patient: string): Promise<FhirBody[]> {
		const { body } = await this.#call('GET', `/${type}?patient.identifier=${patient}`);
		return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#mllp.close();
		await this.#service[Symbol.asyncDispose]();
	}
}
