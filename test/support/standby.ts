import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataDirectory } from '#storage/embedded/data-directory.ts';
import { type EmbeddedDatabase, startEmbeddedDatabase } from '#storage/embedded/embedded-database.ts';
import { administer } from './template.ts';

/** A way to a server over TCP, which can be cut as a network is: connections break, and nobody gets through any more. */
export class Way {
	readonly #sockets = new Set<Socket>();
	readonly #server: Server;
	#isCut = false;

	constructor(socketFolder: string) {
		this.#server = createServer((socket) => {
			if (this.#isCut) return void socket.resetAndDestroy();
			const onward = connect(join(socketFolder, '.s.PGSQL.5432'));
			for (const [one, other] of [
				[socket, onward],
				[onward, socket],
			] as const) {
				this.#sockets.add(one);
				one.on('error', () => other.destroy());
				one.on('close', () => {
					this.#sockets.delete(one);
					other.destroy();
				});
			}
			socket.pipe(onward).pipe(socket);
		});
	}

	async open(): Promise<string> {
		await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
		return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	cut(): void {
		this.#isCut = true;
		for (const socket of this.#sockets) socket.destroy();
	}

	close(): void {
		this.cut();
		this.#server.close();
	}
}

/** One of the two servers. */
export interface Member {
	/** Reaches it whatever the way to it is. */
	url: string;
	/** `<address>:<port>` of the way to it. */
	place: string;
	cut(): void;
}

/** A primary and its synchronous streaming standby, each reached over TCP. */
export interface Pair extends AsyncDisposable {
	primary: Member;
	standby: Member;
	/** Makes the standby the primary. */
	promote(): Promise<void>;
}

/** The data directories of a primary and of its standby. */
export interface PairFolders extends Disposable {
	primary: string;
	standby: string;
}

/**
 * Makes a server, and a standby that begins as a copy of it; neither runs then.
 * @param fill is given the URL of the server before it is copied
 */
export async function pairFolders(
	settings: Record<string, string>,
	fill: (url: string) => Promise<void> = async () => {},
): Promise<PairFolders> {
	const folders = ['primary', 'standby'].map((name) => mkdtempSync(join(tmpdir(), `tributary-${name}-`)));
	const [primary = '', standby = ''] = folders;
	for (const folder of folders) chmodSync(folder, 0o755);
	const made = await startEmbeddedDatabase({ dataDir: primary, settings });
	await fill(made.url);
	// The copy is whole only when the server has shut down.
	await made.stop();
	const { cluster } = dataDirectory(standby);
	execFileSync('cp', ['-a', dataDirectory(primary).cluster, cluster]);
	const signal = join(cluster, 'standby.signal');
	writeFileSync(signal, '');
	const { uid, gid } = statSync(cluster);
	chownSync(signal, uid, gid);
	return {
		primary,
		standby,
		[Symbol.dispose]: () => {
			for (const folder of folders) rmSync(folder, { recursive: true, force: true });
		},
	};
}

export async function startPair(): Promise<Pair> {
	const settings = { shared_buffers: '64MB', max_wal_size: '256MB' };
	const folders = await pairFolders(settings);
	const [from, to] = [dataDirectory(folders.primary), dataDirectory(folders.standby)];
	const primary = await startEmbeddedDatabase({ dataDir: folders.primary, settings });
	const conninfo = {
		primary_conninfo: `host=${from.socket} user=tributary application_name=standby`,
		wal_retrieve_retry_interval: '200ms',
	};
	const standby = await startEmbeddedDatabase({ dataDir: folders.standby, settings: { ...settings, ...conninfo } });
	await administer(primary.url, "alter system set synchronous_standby_names = 'standby'");
	await administer(primary.url, 'select pg_reload_conf()');
	const members = await Promise.all([member(primary, from.socket), member(standby, to.socket)]);
	const [one, other] = members;
	if (one === undefined || other === undefined) throw new Error(readFileSync(from.log, 'utf8'));
	return {
		primary: one,
		standby: other,
		promote: () => administer(standby.url, 'select pg_promote()'),
		[Symbol.asyncDispose]: async () => {
			for (const { close } of members) close();
			await Promise.all([primary.stop(), standby.stop()]);
			folders[Symbol.dispose]();
		},
	};
}

async function member({ url }: EmbeddedDatabase, socketFolder: string): Promise<Member & { close(): void }> {
	const way = new Way(socketFolder);
	const place = await way.open();
	return { url, place, cut: () => way.cut(), close: () => way.close() };
}
