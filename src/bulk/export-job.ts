import { writeFile } from 'node:fs/promises';
import { MessageChannel } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { ResourceType } from '#record/table-shape.ts';
import type { JobKey } from '#storage/bulk-jobs.ts';
import { fileOf } from './directory.ts';
import { ignoredLines } from './line.ts';
import type { JobEnd, LocalJob } from './local-job.ts';
import type { BulkMetrics } from './metrics.ts';
import type { ExportedType, ExportProgress, ExportResult, ExportTask } from './task.ts';

export interface ExportParameters
	extends Pick<ExportTask, 'types' | 'sinceMs' | 'patientsOnly' | 'scope' | 'filters' | 'elements' | 'base'> {
	/** The request asks for it and the export leaves it out, as the file of errors tells. */
	ignored: readonly string[];
}

/** The data for the manifest of a finished export. */
export interface ExportOutcome {
	momentMs: number;
	output: ExportedType[];
	/** The number of Bundles that tell of deleted resources. */
	deleted?: number;
	/** The number of lines in the file of errors. An export of an earlier version of the service has none. */
	errors?: number;
}

/** An export, which is one task of a worker. */
export class ExportJob implements LocalJob {
	readonly kind = 'export';
	readonly key: JobKey;
	readonly #directory: string;
	readonly #parameters: ExportParameters;
	readonly #pool: Piscina;
	readonly #metrics: BulkMetrics;
	readonly #channel = new MessageChannel();
	#bytes = 0;
	#type: ResourceType | undefined;

	constructor(key: JobKey, directory: string, parameters: ExportParameters, { pool, metrics }: { pool: Piscina; metrics: BulkMetrics }) {
		this.key = key;
		this.#directory = directory;
		this.#parameters = parameters;
		this.#pool = pool;
		this.#metrics = metrics;
	}

	progress(): string {
		return this.#type === undefined ? 'begun' : `${this.#type}, ${Math.round(this.#bytes / 1e6)} MB`;
	}

	stop(): void {
		this.#channel.port1.postMessage('stop');
	}

	async carryOut(): Promise<JobEnd> {
		const { port1, port2 } = this.#channel;
		port1.on('message', ({ type, bytes }: ExportProgress) => {
			this.#type = type;
			this.#bytes += bytes;
			this.#metrics.bulkBytes.inc({ kind: 'export' }, bytes);
		});
		const { ignored, ...parameters } = this.#parameters;
		const task: ExportTask = { kind: 'export', job: this.key, directory: this.#directory, ...parameters, port: port2 };
		try {
			if (ignored.length > 0) await writeFile(fileOf(this.#directory, 'OperationOutcome'), ignoredLines(ignored), { mode: 0o600 });
			return this.#endOf((await this.#pool.run(task, { transferList: [port2] })) as ExportResult);
		} finally {
			port1.close();
		}
	}

	#endOf(result: ExportResult): JobEnd {
		switch (result.kind) {
			case 'exported': {
				const { momentMs, output, deleted } = result;
				for (const { count } of output) this.#metrics.bulkLines.inc({ outcome: 'exported' }, count);
				return { state: 'done', result: { momentMs, output, deleted, errors: this.#parameters.ignored.length } satisfies ExportOutcome };
			}
			case 'stopped':
				return { state: 'stopped' };
			case 'unavailable':
				return { state: 'failed', failure: 'the database could not be read completely' };
			case 'no-room':
				return { state: 'failed', failure: 'this node has no disk space left for the files of the export' };
		}
	}
}
