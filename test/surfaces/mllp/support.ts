import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import ipaddr from 'ipaddr.js';
import type { AccessDirectory, ClientGrant, ConnectionDirectory, ConnectionOwner, SenderMatch, Unavailable } from '#access/directory.ts';
import { systemClock } from '#core/clock.ts';
import { Failure } from '#core/failure.ts';
import { silentLog } from '#core/log.ts';
import { OwnQuotas } from '#core/node-line.ts';
import type { Delivery, Hl7Answer, Reply, ReplyTo } from '#record/delivery.ts';
import type { SiteGateway } from '#site/gateway.ts';
import { FeedCounts } from '#storage/feeds/counts.ts';
import type { UnmatchedMessage } from '#storage/unmatched.ts';
import type { RefusedConnection } from '#surfaces/mllp/context.ts';
import { FrameReader } from '#surfaces/mllp/frame.ts';
import { createMllpSurface } from '#surfaces/mllp/listener.ts';
import type { TcpListenOptions } from '#surfaces/tcp/reception.ts';
import { defaultLimits, type Limits } from '../../../src/limits.ts';
import { createMetrics, type MetricName, metricDefinitions } from '../../../src/metrics.ts';

/** A PROXY protocol version 2 header; without an address the LOCAL command. */
export function proxyVersion2(address: string | undefined, extension: Buffer = Buffer.alloc(0)): Buffer {
	const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
	const source = address === undefined ? [] : ipaddr.parse(address).toByteArray();
	const payload =
		address === undefined
			? Buffer.alloc(0)
			: Buffer.concat([Buffer.from([...source, ...source.map(() => 9), 0xdc, 4, 0x0b, 0xb8]), extension]);
	const family = address === undefined ? 0 : source.length === 4 ? 0x11 : 0x21;
	return Buffer.concat([
		signature,
		Buffer.from([address === undefined ? 0x20 : 0x21, family, payload.length >> 8, payload.length & 0xff]),
		payload,
	]);
}

export const adt = (controlId: string, rest = '') =>
	`MSH|^~\\&|SENDER|WEST|TRIBUTARY||20260101120000||ADT^A08^ADT_A01|${controlId}|P|2.5.1\rPID|1||4711\r${rest}`;

export const frame = (message: string) => `\x0b${message}\x1c\r`;

export const grant: ClientGrant = {
	clientId: '0199c0de-0000-7000-8000-000000000001',
	siteId: '0199c0de-0000-7000-8000-000000000002',
	siteSlug: 'west',
	settings: {},
};

export function controlIdOf(bytes: Uint8Array): string {
	return Buffer.from(bytes.subarray(0, 200)).toString('latin1').split('|')[9] ?? '';
}

/** Answers every delivery `AA` at once, unless a test sets its own way. */
export class FakeGateway implements SiteGateway {
	readonly delivered: Delivery[] = [];
	room = true;
	up = true;
	answer: (delivery: Delivery) => Promise<Reply<Hl7Answer>> = (delivery) => Promise.resolve(this.accepted(delivery));

	accepted(delivery: Delivery): Reply<Hl7Answer> {
		const controlId = controlIdOf(delivery.bytes);
		const acknowledgements = [Buffer.from(`MSH|^~\\&|||||||ACK|1|P|2.5.1\rMSA|AA|${controlId}\r`)];
		return { id: delivery.id, outcome: 'accepted', messageType: 'ADT^A08', controlId, answer: { acknowledgements }, flags: [] };
	}
	deliver<Sent extends Delivery>(delivery: Sent): Promise<ReplyTo<Sent>> {
		this.delivered.push(delivery);
		return this.answer(delivery) as Promise<ReplyTo<Sent>>;
	}
	hasRoom(): boolean {
		return this.room;
	}
	whenRoom(): Promise<void> {
		return Promise.resolve();
	}
	available(): boolean {
		return this.up;
	}
}

export const unavailable = () => Promise.reject(new Failure('unavailable', 'the database does not answer'));

/** Allows 127.0.0.1 unless told otherwise; every sender matches `grant`. */
export class FakeDirectory implements AccessDirectory, ConnectionDirectory {
	addresses = new Set(['127.0.0.1']);
	/** Whether those who are not listed are told so. */
	certain = true;
	match: (application: string, facility: string) => SenderMatch = () => ({ kind: 'match', grant });

	/** The holders for which connections count. */
	owner: ConnectionOwner = { clientId: grant.clientId, siteId: grant.siteId };

	ownerAt(): ConnectionOwner {
		return this.owner;
	}
	siteAt(): string | undefined {
		return this.owner.siteId;
	}
	grantOfKey(): undefined {
		return undefined;
	}
	mayConnect(_protocol: string, address: string): boolean | Unavailable {
		return this.addresses.has(address) || (this.certain ? false : 'unavailable');
	}
	matchSender(_protocol: string, address: string, application: string, facility: string): SenderMatch {
		if (this.addresses.has(address)) return this.match(application, facility);
		return { kind: this.certain ? 'no-address' : 'unavailable' };
	}
}

export interface SetUp {
	limits?: Partial<Limits>;
	listen?: Partial<TcpListenOptions>;
	trustedProxies?: string[];
}

export async function startSurface(test: TestContext, { limits, listen, trustedProxies = [] }: SetUp = {}) {
	const gateway = new FakeGateway();
	const directory = new FakeDirectory();
	const unmatched: UnmatchedMessage[] = [];
	const refused: RefusedConnection[] = [];
	const metrics = createMetrics({ processMetrics: false });
	const surface = createMllpSurface({
		directory,
		gateway,
		unmatched: { record: (message) => unmatched.push(message) },
		feeds: new FeedCounts(),
		isTrustedProxy: (address) => trustedProxies.includes(address),
		audit: (event) => refused.push(event),
		warn: () => undefined,
		limits: { ...defaultLimits, ...limits },
		quotas: new OwnQuotas(),
		metrics,
		log: silentLog,
		clock: systemClock,
	});
	const address = await surface.listen({ host: '127.0.0.1', port: 0, ...listen });
	test.after(() => surface.close(0));
	const counted = async (name: MetricName, labels: Record<string, string> = {}) => {
		const all = (await metrics.registry.getSingleMetric(metricDefinitions[name].name)?.get())?.values ?? [];
		const fitting = all.filter((value) => Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted));
		return fitting.reduce((sum, { value }) => sum + value, 0);
	};
	return { surface, address, gateway, directory, unmatched, refused, metrics, counted };
}

/** The sending side: what came back, as messages. */
export class Sender {
	readonly socket: Socket;
	readonly answers: string[] = [];
	readonly closed: Promise<void>;
	#wake: () => void = () => {};

	constructor(socket: Socket) {
		this.socket = socket;
		const reader = new FrameReader(1 << 20);
		socket.on('data', (chunk: Buffer) => {
			for (const received of reader.push(chunk)) {
				if (received.kind === 'message') this.answers.push(Buffer.from(received.bytes).toString('latin1'));
			}
			this.#wake();
		});
		socket.on('error', () => {});
		this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
		void this.closed.then(() => this.#wake());
	}

	static async connect(port: number, host = '127.0.0.1'): Promise<Sender> {
		const socket = createConnection({ host, port, noDelay: true });
		const sender = new Sender(socket);
		await Promise.race([once(socket, 'connect'), sender.closed]);
		return sender;
	}

	write(data: string | Buffer): void {
		this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
	}

	/** Resolves with the first `count` answers, or fewer when the connection closed before. */
	async received(count: number): Promise<string[]> {
		while (this.answers.length < count && !this.socket.destroyed) {
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
		return this.answers.slice(0, count);
	}

	/** MSA-1 and MSA-2 of the first `count` answers. */
	async acknowledged(count: number): Promise<string[]> {
		return (await this.received(count)).map((text) => /\rMSA\|(\w\w\|[^|\r]*)/.exec(text)?.[1] ?? 'no MSA');
	}
}

/** Waits for a condition that the other side brings about; the test runner's own limit ends a vain wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
	while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}
