import { createLog, type Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import { type Service, startService } from '../service.ts';
import type { ToParent, ToProcess } from './messages.ts';

/**
 * One of the processes of a node, started by the parent and told by it what to do. If the parent is gone, the process drains and ends: nobody
 * would start it again, nor end it with the node.
 */
class Member {
	#log: Log | undefined;
	#opening: Promise<Service> | undefined;
	#isEnding = false;
	#signals = 0;

	listen(): void {
		process.on('message', (message: ToProcess) => this.#take(message));
		process.on('disconnect', () => this.#end(false));
		// In a terminal a signal reaches the parent and the processes. A second one ends them at once, as it does a node of one process.
		for (const signal of ['SIGINT', 'SIGTERM'] as const) {
			process.on(signal, () => {
				if (++this.#signals > 1) process.exit(1);
				this.#end(false);
			});
		}
	}

	#take(message: ToProcess): void {
		if (message.kind === 'drain') this.#end(message.isRolled);
		else void this.#open(message);
	}

	async #open({ config, place, databaseUrl }: Extract<ToProcess, { kind: 'open' }>): Promise<void> {
		this.#log = createLog(config.LOG_LEVEL).child({ process: place.index });
		try {
			this.#opening = startService(config, this.#log, { databaseUrl, place });
			const { surfaces, consoleLogin, httpServer } = await this.#opening;
			tell({ kind: 'ready', surfaces, consoleLogin, httpServer });
		} catch (error) {
			const isOutside = error instanceof StartError;
			if (!isOutside) this.#log.fatal({ err: error }, 'a process of the service could not start');
			tell({ kind: 'failed', reason: (error as Error).message });
			leave(1);
		}
	}

	#end(isRolled: boolean): void {
		if (this.#isEnding) return;
		this.#isEnding = true;
		this.#log?.info({ isRolled }, 'draining');
		const closed = this.#opening?.then((service) => service.close(isRolled));
		(closed ?? Promise.resolve()).then(
			() => leave(0),
			(error) => {
				this.#log?.fatal({ err: error }, 'a process of the service did not end cleanly');
				leave(1);
			},
		);
	}
}

function tell(message: ToParent): void {
	if (process.connected) process.send?.(message);
}

/** Ends when the last messages are sent. */
function leave(code: number): void {
	process.exitCode = code;
	if (process.connected) process.disconnect();
	else process.exit(code);
}

new Member().listen();
