import { logForeignLines } from '#core/foreign-lines.ts';
import { createLog, type Log } from '#core/log.ts';
import { StartError } from '#core/start-error.ts';
import { createMetrics } from '../metrics.ts';
import { type Service, startService } from '../service.ts';
import { version } from '../version.ts';
import { setUpEngine } from './engine.ts';
import { MemberLine } from './member-line.ts';
import { closeMsMax, type ToParent, type ToProcess } from './messages.ts';

/**
 * One of the processes of a node, started by the parent and told by it what to do. If the parent is gone, the process drains and ends: nobody
 * would start it again, nor end it with the node.
 */
class Member {
	readonly #metrics = createMetrics({ version });
	readonly #line = new MemberLine(tell, () => this.#metrics.snapshot());
	#log: Log | undefined;
	#opening: Promise<Service> | undefined;
	#drainMsMax = 0;
	#isEnding = false;
	#signals = 0;

	listen(): void {
		process.on('message', (message: ToProcess) => this.#take(message));
		process.on('disconnect', () => {
			this.#line.close();
			this.#end(false);
			// There is no parent that would end one that hangs.
			setTimeout(() => process.exit(1), this.#drainMsMax + closeMsMax).unref();
		});
		// In a terminal a signal reaches the parent and the processes. A second one ends them at once, as it does a node of one process.
		for (const signal of ['SIGINT', 'SIGTERM'] as const) {
			process.on(signal, () => {
				if (++this.#signals > 1) process.exit(1);
				this.#end(false);
			});
		}
		// It is for the parent, and a terminal that closes sends it to all.
		process.on('SIGHUP', () => undefined);
	}

	#take(message: ToProcess): void {
		if (message.kind === 'drain') this.#end(message.isRolled);
		else if (message.kind === 'open') void this.#open(message);
		else void this.#line.take(message);
	}

	async #open({ config, place, databaseUrl }: Extract<ToProcess, { kind: 'open' }>): Promise<void> {
		this.#drainMsMax = config.limits.drainMsMax;
		this.#log = createLog(config.LOG_LEVEL).child({ process: place.index });
		logForeignLines(this.#log);
		setUpEngine();
		try {
			this.#opening = startService(config, this.#log, { databaseUrl, place, metrics: this.#metrics, line: this.#line });
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
		this.#close(isRolled).then(
			() => leave(0),
			(error) => {
				this.#log?.fatal({ err: error }, 'a process of the service did not end cleanly');
				leave(1);
			},
		);
	}

	async #close(isRolled: boolean): Promise<void> {
		// Why it could not open is told by whoever opened it.
		const service = await this.#opening?.catch(() => undefined);
		await service?.close(isRolled);
		await this.#line.leave();
	}
}

function tell(message: ToParent): void {
	// Nobody needs to know what could not be told: the parent is gone.
	if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Ends when the last messages are sent. */
function leave(code: number): void {
	process.exitCode = code;
	if (process.connected) process.disconnect();
	else process.exit(code);
}

new Member().listen();
