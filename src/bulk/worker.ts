import { systemClock } from '#core/clock.ts';
import { createLog } from '#core/log.ts';
import type { FhirLimits } from '#fhir/limits.ts';
import type { DeliveryLimits } from '#record/limits.ts';
import { WorkerDatabase } from '#storage/database.ts';
import type { StorageLimits } from '#storage/limits.ts';
import { runExport } from './export-run.ts';
import { Importing, runImport } from './import-run.ts';
import type { BulkLimits } from './limits.ts';
import type { BulkTask, ExportResult, ImportResult } from './task.ts';

export interface BulkWorkerSettings {
	databaseUrl: string;
	limits: BulkLimits & DeliveryLimits & FhirLimits & Pick<StorageLimits, 'writeMsMax'>;
	logLevel: string;
}

/** Carries out the tasks of a bulk worker. */
export class BulkWorker {
	readonly #database: WorkerDatabase;
	readonly #importing: Importing;

	constructor({ databaseUrl, limits, logLevel }: BulkWorkerSettings) {
		this.#database = new WorkerDatabase(databaseUrl, limits);
		this.#importing = new Importing({ database: this.#database, limits, log: createLog(logLevel), clock: systemClock });
	}

	run(task: BulkTask): Promise<ExportResult | ImportResult> {
		return task.kind === 'export' ? runExport(task, this.#database) : runImport(task, this.#importing);
	}
}
