import type { Log } from '#core/log.ts';
import type { Config } from '../config.ts';
import { limitsOfProcess } from '../limits.ts';
import { Gathering } from './gathering.ts';
import { closeMsMax, type Opened } from './messages.ts';
import { portVariables } from './ports.ts';
import { type MemberProcess, Slot } from './slot.ts';

export interface ParentOptions {
	config: Config;
	count: number;
	databaseUrl: string;
	log: Log;
	/** Is called when the node is open, and after each change of its processes. */
	onChange(opened: Opened, pids: readonly number[]): void;
}

/** Starts the processes of a node, starts those again that end, replaces them one after the other, and ends them. */
export class Parent {
	readonly #options: ParentOptions;
	readonly #slots: readonly Slot[];
	readonly #gathering: Gathering;
	#config: Config;
	#rolling: Promise<void> | undefined;
	#opened: Opened | undefined;
	#isClosing = false;

	constructor(options: ParentOptions) {
		const { config, count, databaseUrl, log } = options;
		this.#options = options;
		this.#gathering = new Gathering(log);
		this.#config = { ...config, limits: limitsOfProcess(config.limits, count) };
		const slot = {
			count,
			config: () => this.#config,
			databaseUrl,
			log,
			onStart: (member: MemberProcess) => this.#gathering.join(member),
			onChange: () => this.#changed(),
		};
		this.#slots = Array.from({ length: count }, (_, index) => new Slot(index, slot));
	}

	/** The first process opens alone: it migrates, and it has the system choose the ports that are 0. @throws Error when one cannot open */
	async start(): Promise<Opened> {
		const [first, ...others] = this.#slots;
		if (first === undefined) throw new Error('a node has at least one process');
		const opened = await first.start({ opensNode: true, migrates: true });
		const ports = Object.entries(portVariables).map(([surface, variable]) => [variable, opened.surfaces[surface]?.port]);
		this.#config = { ...this.#config, ...Object.fromEntries(ports.filter(([, port]) => port !== undefined)) };
		await Promise.all(others.map((slot) => slot.start({ opensNode: false, migrates: false })));
		this.#opened = opened;
		this.#gathering.start();
		this.#changed();
		return opened;
	}

	#changed(): void {
		if (this.#opened === undefined || this.#isClosing) return;
		this.#options.onChange(
			this.#opened,
			this.#slots.flatMap(({ pids }) => pids),
		);
	}

	/** Replaces the processes one after the other. While that is under way, a further call does nothing. Never rejects. */
	roll(): Promise<void> {
		this.#rolling ??= this.#roll()
			.catch((error) => this.#options.log.error({ err: error }, 'the processes of the service could not all be replaced; the others go on'))
			.finally(() => {
				this.#rolling = undefined;
			});
		return this.#rolling;
	}

	async #roll(): Promise<void> {
		this.#options.log.info('replacing the processes of the service');
		for (const [index, slot] of this.#slots.entries()) {
			if (this.#isClosing) return;
			await slot.roll(index === 0);
		}
		this.#options.log.info('the processes of the service are replaced');
	}

	async close(): Promise<void> {
		this.#isClosing = true;
		this.#gathering.close();
		await Promise.all(this.#slots.map((slot) => slot.close(this.#config.limits.drainMsMax + closeMsMax)));
	}

	/** Ends the processes at once. */
	kill(): void {
		for (const slot of this.#slots) slot.kill();
	}
}
