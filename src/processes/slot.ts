import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '#core/log.ts';
import { processArguments } from '#core/node-arguments.ts';
import type { Place } from '#core/place.ts';
import { StartError } from '#core/start-error.ts';
import { type Config, environmentOfProcess } from '../config.ts';
import type { Opened, ToParent, ToProcess } from './messages.ts';

const entry = new URL('./member.ts', import.meta.url);
/** As of `start.mjs`: what one process has compiled, the others need not. */
const compileCache = join(import.meta.dirname, '../../node_modules/.cache/tributary');

/** The first pause before a process that ended is started again; it doubles with each further end. */
const pauseMsMin = 100;
const pauseMsMax = 10_000;
/** A process that ran for so long ends the doubling. */
const steadyMs = 60_000;

export interface SlotOptions {
	/** The number of processes of the node. */
	count: number;
	/** The configuration of processes that start from now on. */
	config(): Config;
	databaseUrl: string;
	log: Log;
	/** Is called with each process when it is started. */
	onStart(member: MemberProcess): void;
	/** Is called whenever a process has opened or ended. */
	onChange(): void;
}

/** The first process of a start or of a roll does this besides. */
export type Besides = Pick<Place, 'opensNode' | 'migrates'>;

/** One process of the node under way, from its start to its end. */
export class MemberProcess {
	/** The place of the process in the node. */
	readonly index: number;
	readonly child: ChildProcess;
	/** Rejects when the process ends before it is open. */
	readonly opened: Promise<Opened>;
	/** Resolves with the exit code, or with the signal that ended the process. */
	readonly ended: Promise<number | NodeJS.Signals>;
	readonly startedMs = performance.now();
	isOpen = false;

	constructor({ config, databaseUrl }: SlotOptions, place: Place) {
		this.index = place.index;
		const env = environmentOfProcess({ NODE_COMPILE_CACHE: compileCache });
		this.child = fork(entry, [], {
			env,
			execArgv: processArguments(),
			serialization: 'advanced',
			stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
		});
		this.ended = new Promise((resolve) => {
			this.child.once('exit', (code, signal) => resolve(signal ?? code ?? 1));
			// The system could not start it.
			this.child.once('error', () => resolve(1));
		});
		this.opened = this.#untilOpened();
		this.opened.catch(() => undefined);
		this.tell({ kind: 'open', config: config(), place, databaseUrl });
	}

	#untilOpened(): Promise<Opened> {
		return new Promise((resolve, reject) => {
			this.child.on('message', (message: ToParent) => {
				if (message.kind === 'ready') resolve(message);
				else if (message.kind === 'failed') reject(new StartError(message.reason));
			});
			void this.ended.then((how) => reject(new Error(`a process of the service ended with ${how} before it was open`)));
		});
	}

	tell(message: ToProcess): void {
		// A process that is about to end takes no more messages. Its end is what counts then.
		if (this.child.connected) this.child.send(message, () => undefined);
	}
}

/** A place of the node, in which one process runs after the other. */
export class Slot {
	readonly #index: number;
	readonly #options: SlotOptions;
	/** The process that takes connections; while it is replaced, the one that follows it. */
	#member: MemberProcess | undefined;
	/** Every process that has not ended yet, those that drain included. */
	readonly #living = new Set<MemberProcess>();
	#pauseMs = 0;
	#isClosing = false;

	constructor(index: number, options: SlotOptions) {
		this.#index = index;
		this.#options = options;
	}

	/** The processes that have opened and not ended. */
	get pids(): number[] {
		return [...this.#living].flatMap(({ isOpen, child: { pid } }) => (isOpen && pid !== undefined ? [pid] : []));
	}

	/** Starts the first process of the place. @throws Error when it cannot open */
	async start(besides: Besides): Promise<Opened> {
		const member = this.#begin(besides);
		const opened = await member.opened;
		this.#keep(member);
		return opened;
	}

	/** Starts another process and, once it is open, drains the one before. @throws Error when it cannot open; the one before goes on then */
	async roll(migrates: boolean): Promise<void> {
		const before = this.#member;
		const next = this.#begin({ opensNode: false, migrates });
		try {
			await next.opened;
		} catch (error) {
			this.#member = before;
			if (before !== undefined && !this.#living.has(before)) void this.#again(before);
			throw error;
		}
		this.#keep(next);
		before?.tell({ kind: 'drain', isRolled: true });
		await before?.ended;
	}

	/** Resolves when every process of the place has ended. Those that have not after `withinMs` are killed. */
	async close(withinMs: number): Promise<void> {
		this.#isClosing = true;
		const living = [...this.#living];
		for (const member of living) member.tell({ kind: 'drain', isRolled: false });
		const timer = setTimeout(() => this.kill(), withinMs);
		await Promise.all(living.map(({ ended }) => ended));
		clearTimeout(timer);
	}

	/** Ends the processes of the place at once. */
	kill(): void {
		this.#isClosing = true;
		for (const { child } of this.#living) child.kill('SIGKILL');
	}

	#begin(besides: Besides): MemberProcess {
		const member = new MemberProcess(this.#options, { ...besides, index: this.#index, count: this.#options.count });
		this.#member = member;
		this.#living.add(member);
		this.#options.onStart(member);
		void member.ended.then(() => {
			this.#living.delete(member);
			this.#options.onChange();
		});
		return member;
	}

	/** Has another process follow an open one when it ends. */
	#keep(member: MemberProcess): void {
		member.isOpen = true;
		this.#options.onChange();
		void member.ended.then((how) => {
			if (this.#isClosing || this.#member !== member) return;
			this.#options.log.error({ process: this.#index, how }, 'a process of the service ended and is started again');
			if (performance.now() - member.startedMs > steadyMs) this.#pauseMs = 0;
			void this.#again(member);
		});
	}

	/** Tries until a process is open, unless the place closes or is rolled meanwhile. */
	async #again(ended: MemberProcess): Promise<void> {
		for (let before = ended; ; ) {
			await pause(this.#pauseMs);
			this.#pauseMs = Math.min(pauseMsMax, Math.max(pauseMsMin, this.#pauseMs * 2));
			if (this.#isClosing || this.#member !== before) return;
			const member = this.#begin({ opensNode: false, migrates: false });
			try {
				await member.opened;
				this.#keep(member);
				return;
			} catch (error) {
				await member.ended;
				this.#options.log.error({ process: this.#index, err: error }, 'a process of the service does not start again; it is tried again');
			}
			before = member;
		}
	}
}
