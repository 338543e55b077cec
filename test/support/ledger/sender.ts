import type { PlainSite } from '../many-sites.ts';
import type { Answer } from './verdict.ts';

/** A site that ledger clients send to. */
export interface LedgerSite extends PlainSite {
	aeTitle: string;
}

export type Port = (surface: string) => number;

/** A way to the service. */
export interface Way {
	port: Port;
	/** The HTTP surfaces speak HTTPS. */
	tls?: boolean;
	/** A sender that has waited so long for an answer gives its connection up. */
	answerMsMax?: number;
	/** Told of each refusal, with the words of the service. */
	refused?: (key: string, words: string) => void;
}

/** A system of a site that sends numbered work, one after the other. It connects when it has to. */
export interface Sender {
	name: string;
	/** True if the same work may be sent again when there was no answer, because it is applied once. */
	mayRepeat: boolean;
	/** Rejects when there is no answer. `isRepeat`: it was sent before, and may have been stored. */
	send(key: string, number: number, isRepeat: boolean): Promise<Answer>;
	/** Senders of batches send so many pieces of work at once, each of which is answered for itself. */
	readonly batch?: { readonly size: number; send(work: readonly Work[]): Promise<Answer[]> };
	close(): void;
}

/** A piece of work: its key, and its place in what its sender sends. */
export interface Work {
	key: string;
	number: number;
}

/** A sender's name, its site and its way. `key` and `address` of the site are read anew each time: keys are changed while senders run. */
export interface SenderPlace {
	name: string;
	site: LedgerSite;
	way: Way;
}

/** Says that work was refused, and tells whoever listens with which words. */
export function refusedWith({ way }: SenderPlace, key: string, words: string): Answer {
	way.refused?.(key, words);
	return 'refused';
}

export const answerMsMaxDefault = 60_000;

/** Rejects when the answer takes longer than that. */
async function inTime<T>(answer: Promise<T>, msMax: number): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	try {
		return await Promise.race([
			answer,
			new Promise<never>((_, reject) => {
				timer = setTimeout(() => reject(new Error('there was no answer in time')), msMax);
			}),
		]);
	} finally {
		clearTimeout(timer);
	}
}

/** A sender over one connection, which is given up as soon as something fails over it. Its work may be repeated. */
export abstract class ConnectedSender<Connection> implements Sender {
	readonly mayRepeat = true;
	readonly name: string;
	protected readonly place: SenderPlace;
	#connection: Connection | undefined;

	constructor(place: SenderPlace) {
		this.name = place.name;
		this.place = place;
	}

	protected abstract connect(): Promise<Connection>;
	protected abstract sendOver(connection: Connection, key: string, number: number, isRepeat: boolean): Promise<Answer>;
	protected abstract end(connection: Connection): void;

	protected inTime<T>(answer: Promise<T>): Promise<T> {
		return inTime(answer, this.place.way.answerMsMax ?? answerMsMaxDefault);
	}

	send(key: string, number: number, isRepeat: boolean): Promise<Answer> {
		return this.using((connection) => this.sendOver(connection, key, number, isRepeat));
	}

	/** Connects where that has to be, and gives the connection up if the use of it fails. */
	protected async using<Result>(use: (connection: Connection) => Promise<Result>): Promise<Result> {
		try {
			this.#connection ??= await this.inTime(this.connect());
			return await use(this.#connection);
		} catch (error) {
			this.close();
			throw error;
		}
	}

	close(): void {
		if (this.#connection !== undefined) this.end(this.#connection);
		this.#connection = undefined;
	}
}
