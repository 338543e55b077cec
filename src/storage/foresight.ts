import type { Cell } from './cell.ts';
import type { StatementRunner } from './connection.ts';
import { ColumnValues, type Statement } from './statement.ts';

/** The statements of which something is known beforehand. */
export interface ForeseenStatements {
	/** Reads that mostly find nothing: what is stored is mostly new. */
	empty: readonly Statement[];
	/** Reads of which a column is counted for every batch, and says nothing about what is stored. */
	counted: readonly { read: Statement; column: number }[];
	/** Writes that add one of their values to a column of the rows that a read finds by their first two values. */
	growing: readonly { write: Statement; value: number; read: Statement; column: number }[];
	/** Writes that change the rows that a read finds by their first two values in another way. */
	changing: readonly { write: Statement; read: Statement }[];
}

/** So many reads are remembered, the last ones. A sender has three or four, which it repeats for each instance of a series. */
const readsMax = 256;
/** A longer answer is not remembered. */
const rowsMax = 64;
/** The more surprises come in a row, the more batches are not foreseen: at most so many. */
const passedOverMax = 256;

/**
 * Remembers what the last reads found. Whoever repeats them may go on with that before the database has answered, send what follows from it at
 * once, and compare before the COMMIT. So what is remembered is never taken for true: it only saves a wait.
 */
export class Foresight {
	readonly #statements: ForeseenStatements;
	readonly #known = new Map<string, Cell[][]>();
	#surprises = 0;
	#passOver = 0;

	constructor(statements: ForeseenStatements) {
		this.#statements = statements;
	}

	/** Begins a transaction. With `mayGuess` false it only learns from it. */
	begin(connection: StatementRunner, mayGuess: boolean): ForeseenTransaction {
		const guesses = mayGuess && this.#passOver === 0;
		if (this.#passOver > 0) this.#passOver -= 1;
		return new ForeseenTransaction(connection, this, guesses);
	}

	/** @returns undefined when nothing is known of a read */
	expected(statement: Statement, values: readonly unknown[]): Cell[][] | undefined {
		return this.#known.get(keyOf(statement, values)) ?? (this.#statements.empty.includes(statement) ? [] : undefined);
	}

	/** Tells whether a read found what was expected of it. */
	isExpected(statement: Statement, expected: readonly Cell[][], found: readonly Cell[][]): boolean {
		if (expected.length !== found.length) return false;
		const counted = this.#statements.counted.find(({ read }) => read === statement)?.column;
		return found.every((cells, row) => cells.every((cell, column) => column === counted || cell === expected[row]?.[column]));
	}

	surprised(): void {
		this.#surprises += 1;
		this.#passOver = Math.min(passedOverMax, 2 ** this.#surprises);
	}

	/** A transaction is committed: remembers what it read, and what became of that by what it wrote. */
	learn(reads: readonly Read[], writes: readonly Run[], hasGuessed: boolean): void {
		if (hasGuessed) this.#surprises = 0;
		for (const { statement, values, found } of reads) {
			// A row that was not there is mostly there afterwards.
			if (found.length > 0 && found.length <= rowsMax) this.#keep(keyOf(statement, values), found);
		}
		for (const { statement, values } of writes) {
			const changed = this.#statements.changing.find(({ write }) => write === statement)?.read;
			if (changed !== undefined) this.#known.delete(keyOf(changed, values.slice(0, 2)));
			const { read, value = 0, column = 0 } = this.#statements.growing.find(({ write }) => write === statement) ?? {};
			if (read === undefined) continue;
			const key = keyOf(read, values.slice(0, 2));
			const rows = this.#known.get(key);
			const added = values[value];
			if (rows === undefined || !(added instanceof ColumnValues)) continue;
			this.#keep(
				key,
				rows.map((cells) => cells.with(column, String(Number(cells[column]) + Number(added.only)))),
			);
		}
	}

	#keep(key: string, rows: Cell[][]): void {
		this.#known.delete(key);
		this.#known.set(key, rows);
		const [oldest] = this.#known.keys();
		if (this.#known.size > readsMax && oldest !== undefined) this.#known.delete(oldest);
	}
}

interface Run {
	statement: Statement;
	values: readonly unknown[];
}

interface Read extends Run {
	found: Cell[][];
}

/** The statements of one transaction: its reads are answered by what is expected, and sent as well. */
export class ForeseenTransaction implements StatementRunner {
	readonly #connection: StatementRunner;
	readonly #foresight: Foresight;
	/** False: every read is waited for. */
	readonly guesses: boolean;
	readonly #reads: { run: Run; expected: Cell[][] | undefined; answered: Promise<Cell[][]> }[] = [];
	readonly #writes: Run[] = [];

	constructor(connection: StatementRunner, foresight: Foresight, guesses: boolean) {
		this.#connection = connection;
		this.#foresight = foresight;
		this.guesses = guesses;
	}

	/** True when nothing that was read so far has to be waited for. */
	get isForeseen(): boolean {
		return this.guesses && this.#reads.every(({ expected }) => expected !== undefined);
	}

	/** Runs what reads. */
	run(statement: Statement, values: readonly unknown[]): Promise<Cell[][]> {
		const answered = this.#connection.run(statement, values);
		const expected = this.guesses ? this.#foresight.expected(statement, values) : undefined;
		this.#reads.push({ run: { statement, values }, expected, answered });
		if (expected === undefined) return answered;
		// Whoever commits awaits it.
		answered.catch(() => undefined);
		return Promise.resolve(expected);
	}

	/** Runs what writes. */
	readonly writing: StatementRunner = {
		run: (statement, values) => {
			this.#writes.push({ statement, values });
			return this.#connection.run(statement, values);
		},
	};

	/** Resolves when the reads are answered: true when each found what was expected. */
	async isTrue(): Promise<boolean> {
		const found = await Promise.all(this.#reads.map(({ answered }) => answered));
		return this.#reads.every(({ run, expected }, index) => {
			return expected === undefined || this.#foresight.isExpected(run.statement, expected, found[index] ?? []);
		});
	}

	/** Resolves to true when the reads were answered otherwise than expected: what failed behind them may have failed for that. */
	async wasWrong(): Promise<boolean> {
		const isWrong = await this.isTrue().then(
			(isTrue) => !isTrue,
			() => false,
		);
		if (isWrong) this.#foresight.surprised();
		return isWrong;
	}

	/** The transaction is committed. */
	async learn(): Promise<void> {
		const reads = await Promise.all(this.#reads.map(async ({ run, answered }) => ({ ...run, found: await answered })));
		this.#foresight.learn(reads, this.#writes, this.guesses);
	}
}

function keyOf({ name }: Statement, values: readonly unknown[]): string {
	return [name, ...values.map((value) => (value instanceof ColumnValues ? value.toPostgres() : String(value)))].join('\0');
}
