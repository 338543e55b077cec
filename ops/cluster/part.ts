import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export interface PartOptions {
	name: string;
	command: readonly [string, ...string[]];
	environment?: Readonly<Record<string, string>>;
	/** The file to which its output is added. */
	logPath: string;
	/** A network of its own, so that its link can be cut and all its processes are found. */
	network?: string;
	/** Tells whether it does its work. It is asked again and again at the start. */
	isUp: () => Promise<boolean>;
	startMsMax?: number;
}

/** A program of the cluster. */
export class Part {
	readonly name: string;
	readonly #options: PartOptions;
	#child: ChildProcess | undefined;

	constructor(options: PartOptions) {
		this.name = options.name;
		this.#options = options;
	}

	get pid(): number | undefined {
		return this.#isRunning ? this.#child?.pid : undefined;
	}

	get #isRunning(): boolean {
		return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
	}

	/** @throws Error with the end of its log, if it ends or is not up in time */
	async start(): Promise<void> {
		const { name, command, environment, logPath, network, isUp, startMsMax = 90_000 } = this.#options;
		const [program, ...parameters] = network === undefined ? command : (['ip', 'netns', 'exec', network, ...command] as const);
		const log = openSync(logPath, 'a', 0o600);
		const child = spawn(program, parameters, { stdio: ['ignore', log, log], env: { ...process.env, ...environment } });
		closeSync(log);
		this.#child = child;
		let failure: Error | undefined;
		child.once('error', (error) => {
			failure = error;
		});
		for (const untilMs = Date.now() + startMsMax; ; await pause(200)) {
			if (failure !== undefined || !this.#isRunning) throw new Error(`${name} ended: ${failure?.message ?? this.#endOfLog()}`);
			if (await isUp()) return;
			if (Date.now() > untilMs) throw new Error(`${name} is not up after ${startMsMax / 1000} s: ${this.#endOfLog()}`);
		}
	}

	#endOfLog(): string {
		return readFileSync(this.#options.logPath, 'utf8').slice(-2000);
	}

	/** Every process that works for it. */
	get processes(): number[] {
		const { network } = this.#options;
		if (network === undefined) return this.pid === undefined ? [] : [this.pid];
		const { stdout } = spawnSync('ip', ['netns', 'pids', network], { encoding: 'utf8' });
		return stdout
			.split('\n')
			.filter((line) => line !== '')
			.map(Number);
	}

	/** Sends a signal to all its processes, as when a machine loses its power or freezes. */
	signalAll(signal: NodeJS.Signals): void {
		for (const pid of this.processes) {
			try {
				process.kill(pid, signal);
			} catch {
				// It has ended since it was listed.
			}
		}
	}

	/** Resolves when it has ended. Ends it at once when it is not gone in time. */
	async stop(signal: NodeJS.Signals = 'SIGTERM', msMax = 30_000): Promise<void> {
		this.#child?.kill(signal);
		for (const untilMs = Date.now() + msMax; this.processes.length > 0; await pause(50)) {
			if (Date.now() > untilMs) this.signalAll('SIGKILL');
		}
	}
}
