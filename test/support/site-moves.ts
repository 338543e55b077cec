import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { runCli } from '#cli/run.ts';
import { readConfig } from '../../src/config.ts';
import { adt } from './adt.ts';
import { MllpClient, msa } from './mllp-client.ts';
import type { TestService } from './service.ts';

/** Two installations between which sites move, as the command that moves them finds them. */
export interface Installations {
	here: Pick<TestService, 'databaseUrl' | 'dataDir'>;
	there: Pick<TestService, 'databaseUrl'>;
}

export interface Outcome {
	code: number;
	out: string;
	err: string;
}

/** Moves a site by the command line of the first installation. `said` hears what it tells meanwhile. */
export async function moveByCommand(
	{ here, there }: Installations,
	slug: string,
	further: readonly string[] = [],
	said: (line: string) => void = () => undefined,
): Promise<Outcome> {
	const outcome = { code: 0, out: '', err: '' };
	const streams = {
		stdout: { write: (text: string) => (outcome.out += text), columns: undefined },
		stderr: {
			write: (text: string) => {
				outcome.err += text;
				said(text);
			},
		},
	};
	const never = () => Promise.reject(new Error('a move needs none of these'));
	const hooks = {
		...{ start: never, processDelivery: never, openIngest: never, version: '9.9.9', environment: {} },
		remoteEcho: () => never,
		remoteSend: () => () => {
			throw new Error('a move sends nothing');
		},
		readConfig: () => readConfig({ DATABASE_URL: here.databaseUrl, DATA_DIR: here.dataDir }),
	};
	const to = further.includes('--to') ? [] : ['--to', there.databaseUrl];
	outcome.code = await runCli(
		['site', 'move', slug, ...to, ...further, '--json'],
		streams,
		hooks as unknown as Parameters<typeof runCli>[2],
	);
	return outcome;
}

/** A balancer before both installations. */
export class Door {
	readonly #server = createServer((socket) => this.#lead(socket));
	readonly #sockets = new Set<Socket>();
	#to = 0;

	async open(to: number): Promise<number> {
		this.#to = to;
		await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
		return (this.#server.address() as AddressInfo).port;
	}

	turn(to: number): void {
		this.#to = to;
		for (const socket of this.#sockets) socket.destroy();
	}

	close(): void {
		this.turn(0);
		this.#server.close();
	}

	#lead(socket: Socket): void {
		const further = connect({ port: this.#to, host: '127.0.0.1' });
		for (const [one, other] of [
			[socket, further],
			[further, socket],
		] as const) {
			this.#sockets.add(one);
			one.pipe(other);
			one.on('error', () => undefined);
			one.on('close', () => {
				this.#sockets.delete(one);
				other.destroy();
			});
		}
	}
}

/**
 * Sends numbered messages one behind the other until it is told to stop, each again until it is acknowledged. Returns how many were; one more
 * may have been taken whose acknowledgement it did not get.
 */
export async function sender(port: number, name: string, isOver: () => boolean, application = 'ADT'): Promise<number> {
	let client: MllpClient | undefined;
	for (let number = 0; ; number++) {
		if (isOver()) {
			client?.close();
			return number;
		}
		for (;;) {
			try {
				client ??= await MllpClient.connect(port);
				const message = adt(`${name}-${number}`, name, number).replace('|ADT|', `|${application}|`);
				assert.equal(msa(await client.send(message)).code, 'AA');
				break;
			} catch (error) {
				if (error instanceof assert.AssertionError) throw error;
				client?.close();
				client = undefined;
				if (isOver()) return number;
				await pause(20);
			}
		}
	}
}

/** The control ids of the messages of a site that came over MLLP and were accepted, in their order. */
export async function acceptedMessages(service: TestService, siteId: string): Promise<string[]> {
	const rows = await service.rows<{ control_id: string }>(
		`select control_id from message_log where site_id = $1 and outcome = 'accepted' and surface = 'mllp' order by id`,
		[siteId],
	);
	return rows.map(({ control_id }) => control_id);
}
