import type { ExportOutcome } from '#bulk/export-job.ts';
import type { ImportOutcome } from '#bulk/import-job.ts';
import type { StoredJob } from '#storage/bulk-jobs.ts';

interface ManifestFile {
	type: string;
	/** Absent where nothing is to be fetched: an import says what became of the lines of a type. */
	url?: string;
	count: number;
	extension?: object;
}

/** What the status of a finished job answers (Bulk Data Access IG 2.0, Output Manifest). */
export interface Manifest {
	/** FHIR instant: everything until then is in the export, or was the import's. */
	transactionTime: string;
	request: string;
	/** The files need the API key, too. */
	requiresAccessToken: true;
	output: ManifestFile[];
	error: ManifestFile[];
}

export function exportManifest(job: StoredJob, base: string): Manifest {
	const { momentMs, output } = job.result as unknown as ExportOutcome;
	const url = (type: string) => `${base}/$export-file/${job.id}/${type}.ndjson`;
	return manifest(
		job,
		momentMs,
		output.map(({ type, count }) => ({ type, url: url(type), count })),
		[],
	);
}

export function importManifest(job: StoredJob, base: string): Manifest {
	const { endedMs, counts, refused } = job.result as unknown as ImportOutcome;
	const output = Object.entries(counts).map(([type, { created, updated, unchanged }]) => ({
		type,
		count: created + updated + unchanged,
		extension: { created, updated, unchanged },
	}));
	const error = { type: 'OperationOutcome', url: `${base}/$import-file/${job.id}/OperationOutcome.ndjson`, count: refused };
	return manifest(job, endedMs, output, refused === 0 ? [] : [error]);
}

function manifest(job: StoredJob, transactionTimeMs: number, output: ManifestFile[], error: ManifestFile[]): Manifest {
	return { transactionTime: new Date(transactionTimeMs).toISOString(), request: job.request, requiresAccessToken: true, output, error };
}
