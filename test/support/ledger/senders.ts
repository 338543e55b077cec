import type { PlainSite } from '../many-sites.ts';
import { MllpClient, msa } from '../mllp-client.ts';
import { ctInstance, StorageScu } from '../storage-scu.ts';
import type { Answer } from './verdict.ts';

/** A site that ledger clients send to. */
export interface LedgerSite extends PlainSite {
	aeTitle: string;
}

export type Port = (surface: string) => number;

/** A system of a site that sends numbered work, one after the other. It connects when it has to. */
export interface Sender {
	name: string;
	/** True if the same work may be sent again when there was no answer, because it is applied once. */
	mayRepeat: boolean;
	/** Rejects when there is no answer. */
	send(key: string, number: number): Promise<Answer>;
	close(): void;
}

export type SenderKind = 'mllp' | 'hl7' | 'fhir' | 'dimse';

/** A result with a number of its own as control id, order and value; four digits of patients a sender. */
export function resultMessage(sender: string, key: string, number: number): string {
	return [
		`MSH|^~\\&|LEDGER|${sender}|||20260105103000+0000||ORU^R01^ORU_R01|${key}|P|2.5.1`,
		`PID|1||${sender}-${number % 50}^^^LEDGER^MR||Rivers^Alba||19810612|F`,
		`OBR|1||${key}|718-7^Hemoglobin^LN|||20260105101500+0000|||||||||||||||20260105102000+0000||LAB|F`,
		`OBX|1|NM|718-7^Hemoglobin^LN||${number}|g/dL|||||F|||20260105101500+0000`,
		'',
	].join('\r');
}

/** 503 and its like say: not now. */
function httpAnswer(status: number): Answer {
	if (status >= 200 && status < 300) return 'accepted';
	return status >= 400 && status < 500 && status !== 429 ? 'refused' : 'none';
}

class MllpSender implements Sender {
	readonly mayRepeat = true;
	readonly name: string;
	readonly #port: Port;
	readonly #address: string;
	#client: MllpClient | undefined;

	constructor(name: string, port: Port, address: string) {
		this.name = name;
		this.#port = port;
		this.#address = address;
	}

	async send(key: string, number: number): Promise<Answer> {
		this.#client ??= await MllpClient.connect(this.#port('mllp'), this.#address);
		try {
			const { code, controlId } = msa(await this.#client.send(resultMessage(this.name, key, number)));
			if (controlId !== key) throw new Error(`the answer to ${key} is about ${controlId}`);
			return code === 'AA' ? 'accepted' : 'refused';
		} catch (error) {
			this.close();
			throw error;
		}
	}

	close(): void {
		this.#client?.close();
		this.#client = undefined;
	}
}

type HttpWork = (key: string, number: number) => { url: string; headers: Record<string, string>; body: string };

class HttpSender implements Sender {
	readonly name: string;
	readonly mayRepeat: boolean;
	readonly #request: HttpWork;

	constructor(name: string, mayRepeat: boolean, request: HttpWork) {
		this.name = name;
		this.mayRepeat = mayRepeat;
		this.#request = request;
	}

	async send(key: string, number: number): Promise<Answer> {
		const { url, headers, body } = this.#request(key, number);
		const answer = await fetch(url, { method: 'POST', headers, body });
		await answer.arrayBuffer();
		return httpAnswer(answer.status);
	}

	close(): void {}
}

const pixels = Buffer.alloc(2000, 7);

class ImageSender implements Sender {
	readonly mayRepeat = true;
	readonly name: string;
	readonly #port: Port;
	readonly #called: string;
	#scu: StorageScu | undefined;

	constructor(name: string, port: Port, called: string) {
		this.name = name;
		this.#port = port;
		this.#called = called;
	}

	async send(key: string, number: number): Promise<Answer> {
		this.#scu ??= await StorageScu.open(this.#port('dimse'), { called: this.#called });
		try {
			const studyUid = key.slice(0, key.lastIndexOf('.'));
			const sent = ctInstance({
				studyUid,
				seriesUid: `${studyUid}.1`,
				sopInstanceUid: key,
				patientId: `${this.name}-${Math.floor(number / 100)}`,
				pixels,
			});
			const { status = 0xa700 } = await this.#scu.store(sent);
			// A warning says that it is stored, too.
			if (status === 0 || status >> 12 === 0xb) return 'accepted';
			return status >> 8 === 0xa7 ? 'none' : 'refused';
		} catch (error) {
			this.close();
			throw error;
		}
	}

	close(): void {
		this.#scu?.[Symbol.dispose]();
		this.#scu = undefined;
	}
}

export function senderOf(kind: SenderKind, name: string, site: LedgerSite, port: Port): Sender {
	const authorized = { 'X-API-Key': site.key };
	if (kind === 'mllp') return new MllpSender(name, port, site.address);
	if (kind === 'dimse') return new ImageSender(name, port, site.aeTitle);
	if (kind === 'hl7') {
		return new HttpSender(name, true, (key, number) => ({
			url: `http://127.0.0.1:${port('hl7')}/v2/ingest`,
			headers: { ...authorized, 'Content-Type': 'text/plain' },
			body: resultMessage(name, key, number),
		}));
	}
	return new HttpSender(name, false, (key, number) => ({
		url: `http://127.0.0.1:${port('fhir')}/fhir/Patient`,
		headers: { ...authorized, 'Content-Type': 'application/fhir+json' },
		body: JSON.stringify({
			resourceType: 'Patient',
			identifier: [{ system: 'urn:ledger', value: key }],
			name: [{ family: `Number ${number}` }],
		}),
	}));
}
