import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { MllpClient, msa } from '../mllp-client.ts';
import { resultMessage } from './messages.ts';
import { ConnectedSender, refusedWith, type SenderPlace, type Work } from './sender.ts';
import type { Answer } from './verdict.ts';

export class MllpSender extends ConnectedSender<MllpClient> {
	readonly #isSecure: boolean;

	constructor(place: SenderPlace, isSecure: boolean) {
		super(place);
		this.#isSecure = isSecure;
	}

	protected async connect(): Promise<MllpClient> {
		const { site, way } = this.place;
		if (!this.#isSecure) return MllpClient.connect(way.port('mllp'), site.address);
		const options: ConnectionOptions & { localAddress: string } = {
			host: '127.0.0.1',
			port: way.port('mllp_tls'),
			localAddress: site.address,
			rejectUnauthorized: false,
		};
		return new Promise((resolve, reject) => {
			const socket = connectTls(options);
			socket.once('error', reject);
			socket.once('close', () => reject(new Error('the connection was closed')));
			socket.once('secureConnect', () => {
				socket.off('error', reject);
				resolve(MllpClient.over(socket));
			});
		});
	}

	protected async sendOver(client: MllpClient, key: string, number: number): Promise<Answer> {
		return this.answerTo(key, await this.inTime(client.send(resultMessage(this.name, key, number))));
	}

	/** @throws if the acknowledgement is about another message */
	protected answerTo(key: string, acknowledgement: string): Answer {
		const { code, controlId } = msa(acknowledgement);
		if (controlId !== key) throw new Error(`the answer to ${key} is about ${controlId}`);
		return code === 'AA' ? 'accepted' : refusedWith(this.place, key, acknowledgement.replaceAll('\r', ' '));
	}

	protected end(client: MllpClient): void {
		client.close();
	}
}

const batchSize = 50;

/** Results in batches (HL7 v2.5.1 §2.10.3): each message of one is acknowledged for itself. */
export class MllpBatchSender extends MllpSender {
	readonly batch = { size: batchSize, send: (work: readonly Work[]) => this.#sendAll(work) };

	async #sendAll(work: readonly Work[]): Promise<Answer[]> {
		const messages = work.map(({ key, number }) => resultMessage(this.name, key, number)).join('');
		const frame = `BHS|^~\\&|LEDGER|${this.name}\r${messages}BTS|${work.length}\r`;
		const answers = await this.using(async (client) => {
			const told = await this.inTime(Promise.allSettled(client.sendAll(frame, work.length)));
			return told.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined));
		});
		if (answers.includes(undefined)) this.close();
		return work.map(({ key }, index) => {
			const acknowledgement = answers[index];
			return acknowledgement === undefined ? 'none' : this.answerTo(key, acknowledgement);
		});
	}
}
