import { once } from 'node:events';
import { hostname } from 'node:os';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { newId } from '#core/id.ts';
import { type Stoppable, systemTimers } from '#core/timers.ts';
import { trailCells } from '#fhir/audit-event.ts';
import type { Cell } from '#storage/cell.ts';
import { plainArray } from '#storage/statement.ts';
import { holdForwarding, noteSent, readUnsent } from '#storage/statements/administrative/forward-audit.ts';
import { readAuditFiles } from '../../certificates.ts';
import type { Config } from '../../config.ts';
import type { ServiceNode, Surface } from '../node.ts';
import { type SentEvent, syslogFrame } from './audit-message.ts';
import { settledWrite } from './settled-write.ts';

/** Looks for what was not sent this often. */
const everyMs = 500;
/** Batches that are sent at a time: some thousands of events at most. */
const batchesMax = 4;
/** It finds a receiver that is gone without a word. */
const keepAliveMs = 30_000;
/** A receiver that takes a connection does so at once. */
const connectMsMax = 10_000;
/** One that reads nothing for this long, while something is written to it, is as good as gone. */
const stallMsMax = 10_000;
/**
 * Syslog has no acknowledgement. What was written counts as received when the connection has lived on for this long; else it is sent again. So a
 * receiver may get an event twice, and the id of the event in it says so.
 */
const settleMs = 1000;

/** Sends the audit trail to a receiver of syslog over TLS (RFC 5425), as IHE ATNA asks. It listens nowhere. */
export const syslogSurface: Surface = {
	name: 'syslog',
	async open(node) {
		const { AUDIT_SYSLOG_URL: url } = node.config;
		// One process of a node sends; between nodes the database decides.
		if (url === undefined || node.place.index !== 0) return {};
		const forwarder = new Forwarder(node, url, receiverOf(node.config, url));
		node.onClose(() => forwarder.close());
		return {};
	},
};

interface Receiver {
	host: string;
	port: number;
	ca?: Buffer;
	cert?: Buffer;
	key?: Buffer;
}

/** The port that RFC 5425 §4.1 assigns. */
const standardPort = 6514;

function receiverOf(config: Config, url: string): Receiver {
	const { hostname: host, port } = new URL(url);
	return { host: host.replace(/^\[|\]$/g, ''), port: port === '' ? standardPort : Number(port), ...readAuditFiles(config) };
}

class Forwarder {
	readonly #node: ServiceNode;
	readonly #url: string;
	readonly #receiver: Receiver;
	readonly #holder = newId();
	readonly #timer: Stoppable;
	readonly #host = hostname();
	#socket: TLSSocket | undefined;
	#isAway = false;
	#closing = false;
	#sending: Promise<void> | undefined;

	constructor(node: ServiceNode, url: string, receiver: Receiver) {
		this.#node = node;
		this.#url = url;
		this.#receiver = receiver;
		this.#timer = systemTimers.every(everyMs, () => this.#send());
	}

	async close(): Promise<void> {
		this.#closing = true;
		this.#timer.stop();
		await this.#sending;
		this.#socket?.destroy();
	}

	#send(): void {
		this.#sending ??= this.#rounds()
			.then(() => {
				if (this.#isAway) this.#node.log.info('the receiver of the audit trail takes it again');
				this.#isAway = false;
			})
			.catch((error: unknown) => {
				this.#socket?.destroy();
				this.#socket = undefined;
				// The trail waits in the database, so once is enough.
				if (!this.#isAway)
					this.#node.log.error({ err: error }, 'the audit trail cannot be sent to AUDIT_SYSLOG_URL; it waits in the database');
				this.#isAway = true;
			})
			.finally(() => {
				this.#sending = undefined;
			});
	}

	async #rounds(): Promise<void> {
		const { database, metrics } = this.#node;
		const { journal } = database;
		for (;;) {
			const held = await journal.runOpened(holdForwarding, [this.#url, this.#holder]);
			const rows = held.length === 0 ? [] : await journal.run(readUnsent, [this.#url, String(batchesMax)]);
			metrics.auditForwardLag.set(Number(rows[0]?.[2] ?? 0) / 1000);
			if (rows.length === 0) return;
			const events = rows.filter(([, , , id]) => id !== null && id !== undefined).map(sentEventOf);
			if (events.length > 0) {
				const frames = events.map((event) => syslogFrame(event, this.#host));
				await settledWrite(await this.#connected(), Buffer.concat(frames), { settleMs, stallMsMax });
			}
			const [chains, sequences] = [rows.map(([chain]) => chain ?? ''), rows.map(([, sequence]) => Number(sequence))];
			await journal.run(noteSent, [this.#url, plainArray(chains), plainArray(sequences)]);
			metrics.auditForwarded.inc(events.length);
			if (this.#closing) return;
		}
	}

	async #connected(): Promise<TLSSocket> {
		if (this.#socket !== undefined && !this.#socket.destroyed) return this.#socket;
		const socket = connect({ ...this.#receiver, minVersion: 'TLSv1.2' });
		socket.setKeepAlive(true, keepAliveMs);
		socket.on('error', () => undefined);
		// Whatever a receiver says is of no meaning (RFC 5425 §4.3), but unread it would hold the end of the connection back.
		socket.resume();
		try {
			await once(socket, 'secureConnect', { signal: AbortSignal.timeout(connectMsMax) });
		} catch (error) {
			socket.destroy();
			throw error;
		}
		this.#socket = socket;
		return socket;
	}
}

function sentEventOf(cells: readonly Cell[]): SentEvent {
	const [, , , id, recorded, site, actor] = cells;
	return { id: id ?? '', recorded: recorded ?? '', site: site ?? null, actor: actor ?? '', ...trailCells(cells) };
}
