import assert from 'node:assert/strict';
import { type FhirCall, fhirClient } from './fhir-client.ts';
import { MllpClient, msa } from './mllp-client.ts';
import { type FhirBody, type TestService, testService } from './service.ts';

/** A service with a site to which one system sends over MLLP, and what FHIR shows of it. */
export class MllpSite {
	readonly call: FhirCall;
	readonly #service: TestService;
	readonly #mllp: MllpClient;

	private constructor(service: TestService, call: FhirCall, mllp: MllpClient) {
		this.#service = service;
		this.call = call;
		this.#mllp = mllp;
	}

	/** @param client settings of the sender */
	static async open(client: Parameters<TestService['addSite']>[1] = {}): Promise<MllpSite> {
		const service = await testService();
		const call = fhirClient(service, (await service.addSite('west', client)).key);
		return new MllpSite(service, call, await MllpClient.connect(service.port('mllp')));
	}

	/** Sends a message, which has to be taken; returns the codes of its flags, in order. */
	async send(controlId: string, ...segments: string[]): Promise<string[]> {
		const { code, text } = msa(await this.#mllp.send(segments.join('\r')));
		assert.equal(code, 'AA', text);
		const [logged] = await this.#service.rows<{ flags: { code: string }[] | null }>('select flags from message_log where control_id = $1', [
			controlId,
		]);
		return (logged?.flags ?? []).map((flag) => flag.code);
	}

	/** Returns what FHIR has of a type and a patient. */
	async all(type: string, patient: string): Promise<FhirBody[]> {
		const { body } = await this.call('GET', `/${type}?patient.identifier=${patient}`);
		return (body.entry ?? []).map(({ resource }: FhirBody) => resource);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#mllp.close();
		await this.#service[Symbol.asyncDispose]();
	}
}
