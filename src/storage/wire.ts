import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { Cell } from './cell.ts';
import { ownSession, settingStatement, type WithoutSession } from './pooling.ts';
import { searchPrefix } from './statement.ts';
import { WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

export interface WireResult {
	rows: Cell[][];
	/** The tag of the command, such as `COMMIT` or `INSERT 0 1`. */
	command: string;
}

/** Without a name it is not kept on the connection. */
export interface WireStatement {
	readonly name: string | undefined;
	readonly text: string;
}

interface Pending {
	/** The name under which the statement is prepared here; empty if it is not kept. */
	preparing: string | undefined;
	rows: Cell[][];
	resolve(result: WireResult): void;
	reject(error: Error): void;
}

/**
 * Searches have as many shapes as there are parameters, and the server keeps some 0.5 MB for one of many parts. The one that was prepared first
 * is given up for a further one.
 */
const keptSearchesMax = 64;

/** Stands among the statements where a Sync was sent. */
const sync = Symbol('sync');

/**
 * Speaks the extended query protocol on the socket of a client that has signed in. Compared with the driver it asks for no description of
 * results, whose columns are known, and many statements have one Sync: the server answers, and wakes this thread, at each of them.
 */
export class Wire {
	readonly #stream: Duplex;
	readonly #writer = new WireWriter();
	/** The names of the statements, and under which the server has them. */
	readonly #prepared = new Map<string, string>();
	/** Names of searches, in the order in which they were prepared. */
	readonly #searches = new Set<string>();
	#count = 0;
	readonly #pending: (Pending | typeof sync)[] = [];
	readonly #silence: NodeJS.Timeout;
	/** True while the last group of statements has no Sync yet. */
	#isOpen = false;
	/** True until what was written is sent. */
	#isGathering = false;
	#fatal: Error | undefined;
	/** Makes the settings of each transaction; undefined where the session has them. */
	readonly #settings: WireStatement | undefined;
	readonly #prepares: boolean;

	/**
	 * @param stream the socket of the client, on which nothing is under way
	 * @param silentMsMax so long the server may say nothing while statements wait; then the connection is given up
	 */
	constructor(stream: Duplex, silentMsMax: number, without: WithoutSession = ownSession) {
		this.#stream = stream;
		this.#settings = settingStatement(without);
		this.#prepares = without.prepares;
		const reader = new WireReader({
			parsed: () => this.#parsed(),
			row: (cells) => this.#head()?.rows.push(cells),
			completed: (command) => this.#completed(command),
			failed: (error) => this.#failed(error),
			ready: () => this.#ready(),
		});
		this.#silence = setTimeout(() => this.#fellSilent(), silentMsMax).unref();
		stream.removeAllListeners('data');
		stream.on('data', (chunk: Buffer) => {
			this.#silence.refresh();
			reader.read(chunk);
		});
		stream.on('close', () => this.#lost());
	}

	/**
	 * Sends a statement with all others that are written before the event loop goes on: each write wakes the server, which costs more than most
	 * statements. If one that does not stand alone fails, the server passes over those that are sent behind it at the same time.
	 * @throws TypeError when a value is none that can be sent
	 */
	async run(statement: WireStatement, values: readonly unknown[], standsAlone: boolean): Promise<WireResult> {
		if (this.#stream.destroyed) throw this.#fatal ?? lost();
		if (this.#pending.length === 0) this.#silence.refresh();
		const settings = this.#settings;
		const answered = settings === undefined ? this.#write(statement, values) : this.#writeWith(settings, statement, values, standsAlone);
		this.#isOpen = true;
		if (standsAlone) this.#sync();
		if (!this.#isGathering) process.nextTick(() => this.flush());
		this.#isGathering = true;
		return answered;
	}

	/** Sends a statement that only makes those behind it faster: nothing depends on whether it is carried out. */
	runAside(text: string): void {
		void this.run({ name: undefined, text }, [], true).catch(() => undefined);
	}

	/** A transaction that stands alone consists of its settings and its statement; in others they follow `begin`. */
	#writeWith(settings: WireStatement, statement: WireStatement, values: readonly unknown[], standsAlone: boolean): Promise<WireResult> {
		// If they fail, so does what they are for, because it is passed over.
		const make = () => void this.#write(settings, []).catch(() => undefined);
		if (standsAlone && !isTransactional(statement)) make();
		const answered = this.#write(statement, values);
		if (statement.name === 'begin') make();
		return answered;
	}

	#write({ name: given, text }: WireStatement, values: readonly unknown[]): Promise<WireResult> {
		const name = this.#prepares ? given : undefined;
		const held = name === undefined ? undefined : this.#prepared.get(name);
		const isNew = held === undefined;
		const known = held ?? this.#nameFor(name);
		this.#writer.statement(known, isNew ? text : undefined, values);
		if (isNew && name !== undefined) this.#keep(name, known);
		return new Promise<WireResult>((resolve, reject) => {
			this.#pending.push({ preparing: isNew ? name : undefined, rows: [], resolve, reject });
		});
	}

	/** A name is not used again, since the server may have passed over what gave it up. */
	#nameFor(name: string | undefined): string {
		return name?.startsWith(searchPrefix) ? `${name}_${++this.#count}` : (name ?? '');
	}

	#keep(name: string, known: string): void {
		this.#prepared.set(name, known);
		if (name === known) return;
		this.#searches.add(name);
		const [first] = this.#searches;
		if (this.#searches.size <= keptSearchesMax || first === undefined) return;
		this.#writer.close(this.#prepared.get(first) ?? '');
		this.#searches.delete(first);
		this.#prepared.delete(first);
	}

	/** Sends what was written at once, so that the server works on it while this thread does something else. */
	flush(): void {
		this.#isGathering = false;
		this.#sync();
		if (!this.#writer.isEmpty) this.#writer.send(this.#stream);
	}

	#sync(): void {
		if (!this.#isOpen) return;
		this.#isOpen = false;
		this.#writer.sync();
		this.#pending.push(sync);
	}

	#head(): Pending | undefined {
		const [head] = this.#pending;
		return head === sync ? undefined : head;
	}

	#parsed(): void {
		const head = this.#head();
		if (head !== undefined) head.preparing = undefined;
	}

	#completed(command: string): void {
		const head = this.#head();
		if (head === undefined) return;
		this.#pending.shift();
		head.resolve({ rows: head.rows, command });
	}

	#failed(error: pg.DatabaseError): void {
		if (error.severity === 'FATAL' || error.severity === 'PANIC') {
			this.#fatal = error;
			return;
		}
		const head = this.#head();
		if (head === undefined) return;
		this.#pending.shift();
		this.#refuse(head, error);
	}

	/** The server has passed over all that still stands before the Sync. */
	#ready(): void {
		for (let head = this.#pending.shift(); head !== undefined && head !== sync; head = this.#pending.shift()) {
			this.#refuse(head, passedOver());
		}
	}

	/** A statement that was not prepared is prepared when it is sent again. */
	#refuse({ preparing, reject }: Pending, error: Error): void {
		if (preparing !== undefined) {
			this.#prepared.delete(preparing);
			this.#searches.delete(preparing);
		}
		reject(error);
	}

	#fellSilent(): void {
		if (this.#pending.length === 0) return;
		this.#fatal = new Error('the database said nothing for too long: timeout');
		this.#stream.destroy();
	}

	#lost(): void {
		clearTimeout(this.#silence);
		const error = this.#fatal ?? lost();
		for (const each of this.#pending.splice(0)) if (each !== sync) each.reject(error);
	}
}

/** These end a transaction, and settings before them would begin another one. */
function isTransactional({ name }: WireStatement): boolean {
	return name === 'commit' || name === 'rollback';
}

function lost(): Error {
	return new Error('the connection to the database was closed');
}

/** The same as the server says of statements behind a failed one of their transaction. */
function passedOver(): pg.DatabaseError {
	const error = new pg.DatabaseError('the statement was passed over, because one before it had failed', 0, 'error');
	return Object.assign(error, { severity: 'ERROR', code: '25P02' });
}
