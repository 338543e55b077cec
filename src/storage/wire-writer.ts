import type { Duplex } from 'node:stream';
import { Failure } from '#core/failure.ts';
import { ColumnValues, textLiteral } from './statement.ts';

const initialBytes = 32 * 1024;
/** A buffer that grew larger for a long message is not kept. */
const keptBytesMax = 1024 * 1024;
/** Up to this many characters a text gets room for three bytes each, the most that one can take; the bytes of a longer one are counted. */
const uncountedMax = 4096;

/** The number of parameters has two bytes. */
const parametersMax = 0xffff;

const code = { parse: 0x50, bind: 0x42, execute: 0x45, close: 0x43, sync: 0x53 } as const;
/** A statement is closed, not a portal. */
const statementByte = 0x53;

/** Writes the messages of the extended query protocol one behind the other (PostgreSQL, "Message Formats"), and sends them in one piece. */
export class WireWriter {
	#buffer: Buffer = Buffer.allocUnsafeSlow(initialBytes);
	#spare: Buffer | undefined;
	#length = 0;

	get isEmpty(): boolean {
		return this.#length === 0;
	}

	/**
	 * Writes what carries out a statement; with its text it is prepared first.
	 * @throws TypeError when a value is none that can be sent, Failure `too-costly` when there are too many; then nothing is written
	 */
	statement(name: string, text: string | undefined, values: readonly unknown[]): void {
		if (values.length > parametersMax)
			throw new Failure('too-costly', `a request is looked for by at most ${parametersMax} values at a time`);
		const start = this.#length;
		try {
			if (text !== undefined) this.#parse(name, text);
			this.#bind(name, values);
			this.#execute();
		} catch (error) {
			this.#length = start;
			throw error;
		}
	}

	#parse(name: string, text: string): void {
		const start = this.#begin(code.parse);
		this.#cString(name);
		this.#cString(text);
		this.#int16(0);
		this.#end(start);
	}

	/** Values are texts, lists of them, or bytes that are given as they are. Results come as texts. */
	#bind(name: string, values: readonly unknown[]): void {
		const start = this.#begin(code.bind);
		this.#cString('');
		this.#cString(name);
		this.#int16(values.length);
		for (const value of values) this.#int16(value instanceof Uint8Array ? 1 : 0);
		this.#int16(values.length);
		for (const value of values) this.#value(value);
		this.#int16(0);
		this.#end(start);
	}

	#execute(): void {
		const start = this.#begin(code.execute);
		// The portal without a name, and as many rows as there are.
		this.#room(5);
		this.#buffer.fill(0, this.#length, this.#length + 5);
		this.#length += 5;
		this.#end(start);
	}

	/** Gives up a prepared statement. */
	close(name: string): void {
		const start = this.#begin(code.close);
		this.#room(1);
		this.#buffer[this.#length++] = statementByte;
		this.#cString(name);
		this.#end(start);
	}

	sync(): void {
		this.#end(this.#begin(code.sync));
	}

	/** Hands all that was written to the stream. Its buffer is used again when the stream has taken it. */
	send(stream: Duplex): void {
		const buffer = this.#buffer;
		const message = buffer.subarray(0, this.#length);
		this.#buffer = this.#spare ?? Buffer.allocUnsafeSlow(initialBytes);
		this.#spare = undefined;
		this.#length = 0;
		stream.write(message, () => {
			if (buffer.length <= keptBytesMax) this.#spare = buffer;
		});
	}

	#value(value: unknown): void {
		if (value === null || value === undefined) {
			this.#int32(-1);
		} else if (value instanceof Uint8Array) {
			this.#int32(value.length);
			this.#room(value.length);
			this.#buffer.set(value, this.#length);
			this.#length += value.length;
		} else if (typeof value === 'string') {
			this.#text(value);
		} else if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') {
			this.#text(String(value));
		} else if (value instanceof ColumnValues) {
			this.#text(value.toPostgres());
		} else if (Array.isArray(value)) {
			this.#text(textLiteral(value.map(elementOf)));
		} else {
			throw new TypeError('a parameter of a statement is neither a text nor bytes, a number, a boolean or a list of these');
		}
	}

	#text(text: string): void {
		const start = this.#length;
		this.#int32(0);
		this.#utf8(text);
		this.#buffer.writeInt32BE(this.#length - start - 4, start);
	}

	#cString(text: string): void {
		this.#utf8(text);
		this.#room(1);
		this.#buffer[this.#length++] = 0;
	}

	#utf8(text: string): void {
		this.#room(text.length <= uncountedMax ? text.length * 3 : Buffer.byteLength(text));
		this.#length += this.#buffer.write(text, this.#length);
	}

	#int16(value: number): void {
		this.#room(2);
		this.#length = this.#buffer.writeUInt16BE(value, this.#length);
	}

	#int32(value: number): void {
		this.#room(4);
		this.#length = this.#buffer.writeInt32BE(value, this.#length);
	}

	/** Begins a message and returns the place of its length. */
	#begin(type: number): number {
		this.#room(5);
		this.#buffer[this.#length] = type;
		this.#length += 5;
		return this.#length - 4;
	}

	#end(start: number): void {
		this.#buffer.writeInt32BE(this.#length - start, start);
	}

	#room(bytes: number): void {
		if (this.#length + bytes <= this.#buffer.length) return;
		const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#length + bytes));
		this.#buffer.copy(larger, 0, 0, this.#length);
		this.#buffer = larger;
	}
}

function elementOf(value: unknown): string | null {
	if (value === null || value === undefined) return null;
	if (typeof value === 'object') throw new TypeError('a list that is a parameter of a statement has lists or objects in it');
	return String(value);
}
