import pg from 'pg';
import type { Cell } from './cell.ts';

/** What the server answers, as far as a `Wire` needs it. */
export interface WireAnswers {
	parsed(): void;
	row(cells: Cell[]): void;
	/** A statement was carried out; `command` is its tag, such as `COMMIT`. */
	completed(command: string): void;
	failed(error: pg.DatabaseError): void;
	/** The server has answered everything up to a Sync. */
	ready(): void;
}

/** A code and the length that counts itself. */
const headBytes = 5;

const code = { parseComplete: 0x31, dataRow: 0x44, commandComplete: 0x43, emptyQuery: 0x49, errorResponse: 0x45, ready: 0x5a } as const;

/** Takes the server's messages apart (PostgreSQL, "Message Formats"), however they are cut. */
export class WireReader {
	readonly #answers: WireAnswers;
	/** The beginning of a message that has not come whole. */
	readonly #parts: Buffer[] = [];
	#held = 0;
	#wanted = headBytes;

	constructor(answers: WireAnswers) {
		this.#answers = answers;
	}

	read(chunk: Buffer): void {
		if (this.#held === 0) {
			this.#take(chunk);
			return;
		}
		this.#parts.push(chunk);
		this.#held += chunk.length;
		// A long message is put together once, when it is whole.
		if (this.#held < this.#wanted) return;
		const whole = Buffer.concat(this.#parts, this.#held);
		this.#parts.length = 0;
		this.#held = 0;
		this.#take(whole);
	}

	#take(bytes: Buffer): void {
		let at = 0;
		while (bytes.length - at >= headBytes) {
			const end = at + 1 + bytes.readInt32BE(at + 1);
			if (end > bytes.length) {
				this.#keep(bytes, at, end - at);
				return;
			}
			this.#message(bytes, at, end);
			at = end;
		}
		if (at < bytes.length) this.#keep(bytes, at, headBytes);
	}

	#keep(bytes: Buffer, from: number, wanted: number): void {
		this.#parts.push(bytes.subarray(from));
		this.#held = bytes.length - from;
		this.#wanted = wanted;
	}

	#message(bytes: Buffer, start: number, end: number): void {
		const from = start + headBytes;
		switch (bytes[start]) {
			case code.dataRow:
				this.#answers.row(cellsOf(bytes, from));
				return;
			case code.commandComplete:
				this.#answers.completed(bytes.toString('latin1', from, end - 1));
				return;
			case code.parseComplete:
				this.#answers.parsed();
				return;
			case code.emptyQuery:
				this.#answers.completed('');
				return;
			case code.errorResponse:
				this.#answers.failed(errorOf(bytes, from, end));
				return;
			case code.ready:
				this.#answers.ready();
		}
	}
}

function cellsOf(bytes: Buffer, start: number): Cell[] {
	const count = bytes.readUInt16BE(start);
	const cells: Cell[] = new Array(count);
	let at = start + 2;
	for (let index = 0; index < count; index++) {
		const length = bytes.readInt32BE(at);
		at += 4;
		if (length < 0) {
			cells[index] = null;
			continue;
		}
		cells[index] = bytes.toString('utf8', at, at + length);
		at += length;
	}
	return cells;
}

/** The fields of an error by their codes (PostgreSQL, "Error and Notice Message Fields"). */
const fields: Readonly<Record<string, keyof pg.DatabaseError>> = {
	S: 'severity',
	C: 'code',
	D: 'detail',
	H: 'hint',
	P: 'position',
	W: 'where',
	s: 'schema',
	t: 'table',
	c: 'column',
	d: 'dataType',
	n: 'constraint',
	R: 'routine',
};

function errorOf(bytes: Buffer, start: number, end: number): pg.DatabaseError {
	const found: Record<string, string> = {};
	for (let at = start; bytes[at] !== 0 && at < end; ) {
		const next = bytes.indexOf(0, at + 1);
		found[String.fromCharCode(bytes[at] ?? 0)] = bytes.toString('utf8', at + 1, next);
		at = next + 1;
	}
	const error = new pg.DatabaseError(found['M'] ?? 'the database refused a statement', end - start, 'error');
	for (const [field, name] of Object.entries(fields)) if (found[field] !== undefined) Object.assign(error, { [name]: found[field] });
	return error;
}
