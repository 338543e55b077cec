import { MessageChannel } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { ResourceType } from '#record/table-shape.ts';
import type { JobKey } from '#storage/bulk-jobs.ts';
import type { JobEnd, LocalJob } from './local-job.ts';
import type { BulkMetrics } from './metrics.ts';
import type { ExportedType, ExportProgress, ExportResult, ExportTask } from './task.ts';

export interface ExportParameters {
	types: readonly ResourceType[];
	sinceMs: number | undefined;
	/** Limits the export to patients and the resources about them. */
	patientsOnly: boolean;
	/** FHIR base URL of attachments, as the caller used it. */
	base: string;
}

/** The data for the manifest of a finished export. */
export interface ExportOutcome {
	momentMs: number;
	output: ExportedType[];
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
		const task: ExportTask = { kind: 'export', job: this.key, directory: this.#directory, ...this.#parameters, port: port2 };
		try {
			return this.#endOf((await this.#pool.run(task, { transferList: [port2] })) as ExportResult);
		} finally {
			port1.close();
		}
	}

	#endOf(result: ExportResult): JobEnd {
		switch (result.kind) {
			case 'exported': {
				const { momentMs, output } = result;
				for (const { count } of output) this.#metrics.bulkLines.inc({ outcome: 'exported' }, count);
				return { state: 'done', result: { momentMs, output } satisfies ExportOutcome };
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
