import type { FhirCall } from './fhir-client.ts';
import { MllpSite } from './mllp-site.ts';
import type { FhirBody } from './service.ts';

/** A hospital system that sends ADT messages to a site over MLLP. */
export class AdtSender {
	readonly #site: MllpSite;
	#messages = 0;

	private constructor(site: MllpSite) {
		this.#site = site;
	}

	static async open(): Promise<AdtSender> {
		return new AdtSender(await MllpSite.open({ also: ['A03', 'A31', 'A37'] }));
	}

	get call(): FhirCall {
		return this.#site.call;
	}

	/** Sends a message of the segments, which has to be taken; returns the codes of its flags, in order. */
	send(event: string, ...segments: string[]): Promise<string[]> {
		const controlId = `M${++this.#messages}`;
		return this.#site.send(controlId, `MSH|^~\\&|ADT|HOSP|||20260105||ADT^${event}|${controlId}|P|2.5.1`, 'EVN', ...segments);
	}

	/** Returns what FHIR has of a type and a patient. */
	all(type: string, patient: string): Promise<FhirBody[]> {
		return this.#site.all(type, patient);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#site[Symbol.asyncDispose]();
	}
}
