import { MllpSite } from './mllp-site.ts';
import type { FhirBody } from './service.ts';

/** A laboratory that sends results to a site over MLLP. */
export class Laboratory {
	readonly #site: MllpSite;
	#messages = 0;

	private constructor(site: MllpSite) {
		this.#site = site;
	}

	static async open(): Promise<Laboratory> {
		return new Laboratory(await MllpSite.open());
	}

	/** Sends an ORU^R01 of the segments, which has to be taken; returns the codes of its flags, sorted. Each is made a day after the one before. */
	async send(...segments: string[]): Promise<string[]> {
		const controlId = `L${++this.#messages}`;
		const day = new Date(Date.UTC(2026, 0, 9 + this.#messages)).toISOString().slice(0, 10);
		const made = `${day.replaceAll('-', '')}110000-0500`;
		return (await this.#site.send(controlId, `MSH|^~\\&|LAB|HOSP|||${made}||ORU^R01|${controlId}|P|2.5.1`, ...segments)).sort();
	}

	/** Returns what FHIR has of a type and a patient. */
	all(type: string, patient: string): Promise<FhirBody[]> {
		return this.#site.all(type, patient);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.#site[Symbol.asyncDispose]();
	}
}
