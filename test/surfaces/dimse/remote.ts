import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { TestContext } from 'node:test';
import type { RemoteAe } from '#access/directory.ts';
import { item, Peer, pdu, uint32 } from './peer.ts';

/** A remote AE made of single bytes: it listens, and a test plays its side of each connection. */
export interface Remote {
	target: RemoteAe;
	/** The next connection that was made to it. */
	connected(): Promise<Peer>;
}

export async function listeningRemote(test: TestContext): Promise<Remote> {
	const waiting: Peer[] = [];
	let wake = () => {};
	const peers: Peer[] = [];
	const server = createServer({ noDelay: true }, (socket) => {
		const peer = new Peer(socket);
		peers.push(peer);
		waiting.push(peer);
		wake();
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	test.after(() => {
		for (const { socket } of peers) socket.destroy();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	return {
		target: { title: 'REMOTE', host: '127.0.0.1', port, tls: false },
		connected: async () => {
			for (;;) {
				const peer = waiting.shift();
				if (peer !== undefined) return peer;
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
		},
	};
}

/** An A-ASSOCIATE-AC: result and transfer syntax of each context, and further user items. */
export function associateAccept(contexts: Record<number, [number, string]>, pduBytesMax = 16_384, user: Buffer[] = []): Buffer {
	const answers = Object.entries(contexts).map(([id, [result, syntax]]) =>
		item(0x21, Buffer.from([Number(id), 0, result, 0]), item(0x40, syntax)),
	);
	const information = item(0x50, item(0x51, uint32(pduBytesMax)), item(0x52, '1.2.3'), ...user);
	const fixed = Buffer.concat([Buffer.from([0, 1, 0, 0]), Buffer.alloc(64, ' ')]);
	return pdu(2, Buffer.concat([fixed, item(0x10, '1.2.840.10008.3.1.1.1'), ...answers, information]));
}

/** What an A-ASSOCIATE-RQ proposes: titles, contexts by number, user items by type. */
export function proposalOf(body: Buffer) {
	const contexts: Record<number, string[]> = {};
	const user = new Map<number, Buffer[]>();
	const walk = (bytes: Buffer, visit: (type: number, content: Buffer) => void) => {
		for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt16BE(at + 2)) {
			visit(bytes[at] as number, bytes.subarray(at + 4, at + 4 + bytes.readUInt16BE(at + 2)));
		}
	};
	walk(body.subarray(68), (type, content) => {
		if (type === 0x20) {
			const syntaxes: string[] = [];
			walk(content.subarray(4), (_type, syntax) => syntaxes.push(syntax.toString('latin1')));
			contexts[content[0] as number] = syntaxes;
		}
		if (type === 0x50) walk(content, (userType, bytes) => user.set(userType, [...(user.get(userType) ?? []), bytes]));
	});
	const title = (at: number) => body.toString('latin1', at, at + 16).trim();
	return { called: title(4), calling: title(20), contexts, user };
}
