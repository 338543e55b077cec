import { Agent as PlainAgent, request as requestPlain } from 'node:http';
import { request as requestSecure, Agent as SecureAgent } from 'node:https';
import { file, multipartBody, multipartType } from '#test/surfaces/dicomweb/client.ts';
import { pair, patientNamed, plainSystem, registration, resultMessage } from './messages.ts';
import { answerMsMaxDefault, refusedWith, type Sender, type SenderPlace } from './sender.ts';
import type { Answer } from './verdict.ts';

interface Request {
	surface: string;
	method?: string;
	path: string;
	headers: Readonly<Record<string, string>>;
	body?: string | Buffer;
}

interface HttpAnswer {
	status: number;
	etag: string | undefined;
	text: string;
}

/** One connection, which is kept: what a sender sends has an order. */
class Channel {
	readonly #place: SenderPlace;
	readonly #agent: PlainAgent | SecureAgent;

	constructor(place: SenderPlace) {
		this.#place = place;
		const one = { keepAlive: true, maxSockets: 1, localAddress: '127.0.0.1' };
		this.#agent = place.way.tls ? new SecureAgent({ ...one, rejectUnauthorized: false }) : new PlainAgent(one);
	}

	ask({ surface, method = 'POST', path, headers, body }: Request): Promise<HttpAnswer> {
		const { site, way } = this.#place;
		const send = way.tls ? requestSecure : requestPlain;
		return new Promise((resolve, reject) => {
			const signal = AbortSignal.timeout(way.answerMsMax ?? answerMsMaxDefault);
			const options = { host: '127.0.0.1', port: way.port(surface), method, path, agent: this.#agent, signal };
			const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
			const request = send({ ...options, headers: { 'X-API-Key': site.key, ...headers, ...length } }, (answer) => {
				const chunks: Buffer[] = [];
				answer.on('data', (chunk: Buffer) => chunks.push(chunk));
				answer.once('error', reject);
				answer.once('end', () => {
					if (!answer.complete) reject(new Error('the answer was cut'));
					resolve({ status: answer.statusCode ?? 0, etag: answer.headers.etag, text: Buffer.concat(chunks).toString() });
				});
			});
			request.once('error', reject);
			request.end(body);
		});
	}

	/** 503 and its like say: not now. A key that has just been replaced by another is refused, and its sender comes again with the other. */
	answerTo(key: string, { status, text }: HttpAnswer): Answer {
		if (status >= 200 && status < 300) return 'accepted';
		if (status < 400 || status >= 500 || status === 429 || status === 401 || status === 408) return 'none';
		return refusedWith(this.#place, key, `${status} ${text.slice(0, 300)}`);
	}

	close(): void {
		this.#agent.destroy();
	}
}

type RequestOf = (key: string, number: number) => Request;

class HttpSender implements Sender {
	readonly name: string;
	readonly mayRepeat: boolean;
	readonly #work: RequestOf;
	readonly #channel: Channel;

	constructor(place: SenderPlace, mayRepeat: boolean, work: RequestOf) {
		this.name = place.name;
		this.mayRepeat = mayRepeat;
		this.#work = work;
		this.#channel = new Channel(place);
	}

	async send(key: string, number: number): Promise<Answer> {
		return this.#channel.answerTo(key, await this.#channel.ask(this.#work(key, number)));
	}

	close(): void {
		this.#channel.close();
	}
}

const fhirType = { 'Content-Type': 'application/fhir+json' };

export const hl7Ingest = (place: SenderPlace): Sender =>
	new HttpSender(place, true, (key, number) => ({
		surface: 'hl7',
		path: '/v2/ingest',
		headers: { 'Content-Type': 'text/plain' },
		body: resultMessage(place.name, key, number),
	}));

export const v3Ingest = (place: SenderPlace): Sender =>
	new HttpSender(place, true, (key, number) => ({
		surface: 'hl7',
		path: '/v3/ingest',
		headers: { 'Content-Type': 'application/xml' },
		body: registration(key, number),
	}));

/** A plain create: sent again it would be another patient. */
export const fhirPlainCreate = (place: SenderPlace): Sender =>
	new HttpSender(place, false, (key, number) => ({
		surface: 'fhir',
		path: '/fhir/Patient',
		headers: fhirType,
		body: JSON.stringify(patientNamed(key, number)),
	}));

export const fhirCreate = (place: SenderPlace): Sender =>
	new HttpSender(place, true, (key, number) => ({
		surface: 'fhir',
		path: '/fhir/Patient',
		headers: { ...fhirType, 'If-None-Exist': `identifier=${plainSystem}|${key}` },
		body: JSON.stringify(patientNamed(key, number)),
	}));

export const fhirTransaction = (place: SenderPlace): Sender =>
	new HttpSender(place, true, (key, number) => ({
		surface: 'fhir',
		path: '/fhir',
		headers: fhirType,
		body: JSON.stringify(pair(key, number)),
	}));

const pixels = Buffer.alloc(2000, 9);

export const storeOverWeb = (place: SenderPlace): Sender =>
	new HttpSender(place, true, (key, number) => {
		const studyUid = key.slice(0, key.lastIndexOf('.'));
		const patientId = `${place.name}-${Math.floor(number / 100)}`;
		const instance = file({ studyUid, seriesUid: `${studyUid}.1`, sopInstanceUid: key, patientId, pixels });
		return { surface: 'fhir', path: '/dicomweb/studies', headers: { 'Content-Type': multipartType }, body: multipartBody([instance]) };
	});

/** Two reports of one step: it begins, it is completed. The first one of a completed step is refused, and changes nothing. */
class ReportSender implements Sender {
	readonly name: string;
	readonly mayRepeat = true;
	readonly #channel: Channel;

	constructor(place: SenderPlace) {
		this.name = place.name;
		this.#channel = new Channel(place);
	}

	async send(key: string, number: number, isRepeat: boolean): Promise<Answer> {
		const report = (status: string) =>
			this.#channel.ask({
				surface: 'mpps',
				path: '/ingest',
				headers: { 'Content-Type': 'application/json' },
				body: JSON.stringify({ sop_instance_uid: key, study_uid: `${key}.1`, status, attributes: { number } }),
			});
		const begun = await report('IN PROGRESS');
		const first = isRepeat && begun.status === 409 ? 'accepted' : this.#channel.answerTo(key, begun);
		return first === 'accepted' ? this.#channel.answerTo(key, await report('COMPLETED')) : first;
	}

	close(): void {
		this.#channel.close();
	}
}

export const mppsReports = (place: SenderPlace): Sender => new ReportSender(place);

/** Versions of one patient, each stated to follow the one before: the history has to have them in the order in which they were sent. */
export class StatedVersionSender implements Sender {
	readonly name: string;
	readonly mayRepeat = true;
	readonly #channel: Channel;
	/** Unknown after an answer that did not come. */
	#version: number | undefined;

	constructor(place: SenderPlace) {
		this.name = place.name;
		this.#channel = new Channel(place);
	}

	async send(key: string, number: number, isRepeat: boolean): Promise<Answer> {
		const path = `/fhir/Patient/${this.name}`;
		if (isRepeat || this.#version === undefined) {
			this.#version = undefined;
			const { status, etag, text } = await this.#channel.ask({ surface: 'fhir', method: 'GET', path, headers: {} });
			if (status !== 200 && status !== 404) return 'none';
			const stored = Number(/"family":"[^"]*-(\d+)"/.exec(text)?.[1] ?? 0);
			// It was taken, so a create in its place is refused.
			if (stored >= number) return (await this.#put(key, { 'If-None-Match': '*' })).status === 412 ? 'accepted' : 'none';
			this.#version = status === 404 ? 0 : Number(/\d+/.exec(etag ?? '')?.[0]);
		}
		const version = this.#version;
		this.#version = undefined;
		const answered = await this.#put(key, version === 0 ? { 'If-None-Match': '*' } : { 'If-Match': `W/"${version}"` });
		if (answered.status === 412) return 'none';
		const answer = this.#channel.answerTo(key, answered);
		if (answer === 'accepted') this.#version = version + 1;
		return answer;
	}

	#put(key: string, condition: Record<string, string>): Promise<HttpAnswer> {
		const body = JSON.stringify({ resourceType: 'Patient', id: this.name, name: [{ family: key }] });
		const headers = { ...fhirType, ...condition };
		return this.#channel.ask({ surface: 'fhir', method: 'PUT', path: `/fhir/Patient/${this.name}`, headers, body });
	}

	close(): void {
		this.#version = undefined;
		this.#channel.close();
	}
}
