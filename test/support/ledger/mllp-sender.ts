import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { MllpClient, msa } from '../mllp-client.ts';
import { resultMessage } from './messages.ts';
import { ConnectedSender, type SenderPlace } from './sender.ts';
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
		const { code, controlId } = msa(await this.inTime(client.send(resultMessage(this.name, key, number))));
		if (controlId !== key) throw new Error(`the answer to ${key} is about ${controlId}`);
		return code === 'AA' ? 'accepted' : 'refused';
	}

	protected end(client: MllpClient): void {
		client.close();
	}
}
