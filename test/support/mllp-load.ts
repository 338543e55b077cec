import assert from 'node:assert/strict';
import { adt } from './adt.ts';
import { MllpClient, msa } from './mllp-client.ts';

/** Senders that write without pause until their connection ends; they note what was acknowledged. */
export class MllpLoad {
	readonly acknowledged = new Map<string, number>();
	/** The connections that have not ended. */
	living: number;
	readonly #senders: Promise<void>[];

	constructor(port: number, round: string, connections: number) {
		this.living = connections;
		this.#senders = Array.from({ length: connections }, (_, index) => this.#send(port, `${round}-${index}`));
	}

	async #send(port: number, patient: string): Promise<void> {
		const client = await MllpClient.connect(port);
		const window: Promise<void>[] = [];
		try {
			for (let number = 0; ; number++) {
				const answered = client.send(adt(`${patient}-${number}`, patient, number)).then((answer) => {
					assert.equal(msa(answer).code, 'AA');
					this.acknowledged.set(patient, number);
				});
				window.push(answered);
				if (window.length === 8) await window.shift();
			}
		} catch (error) {
			if (!(error as Error).message.includes('without an answer')) throw error;
		}
		this.living--;
		await Promise.allSettled(window);
	}

	get total(): number {
		let total = 0;
		for (const number of this.acknowledged.values()) total += number + 1;
		return total;
	}

	ended(): Promise<unknown> {
		return Promise.all(this.#senders);
	}

	/** Everything that was acknowledged is stored, and nothing was applied twice. */
	async assertStored(fhirPort: number, key: string): Promise<void> {
		for (const [patient, number] of this.acknowledged) {
			const answer = await fetch(`http://127.0.0.1:${fhirPort}/fhir/Patient?identifier=${patient}`, { headers: { 'X-API-Key': key } });
			const { entry } = (await answer.json()) as { entry: { resource: { name: [{ family: string }]; meta: { versionId: string } } }[] };
			assert.equal(entry.length, 1, patient);
			const stored = Number(entry[0]?.resource.name[0].family.slice('Number'.length));
			assert.ok(stored >= number, `${patient}: ${number} was acknowledged and ${stored} is stored`);
			assert.equal(entry[0]?.resource.meta.versionId, String(stored + 1), `${patient}: nothing was applied twice`);
		}
	}
}
