import type { ExportOutcome } from '#bulk/export-job.ts';
import type { ImportOutcome } from '#bulk/import-job.ts';
import type { StoredJob } from '#storage/bulk-jobs.ts';

interface ManifestFile {
	type: string;
	/** Absent when there is no file to fetch. An import reports the outcome of its lines by type. */
	url?: string;
	count: number;
	extension?: object;
}

/** The answer to the status request of a finished job (Bulk Data Access IG 2.0, Output Manifest). */
export interface Manifest {
	/** FHIR instant: the export holds everything until then, or the import was carried out then. */
	transactionTime: string;
	request: string;
	/** The files require the API key too. */
	requiresAccessToken: true;
	output: ManifestFile[];
	/** Bundles that delete what was deleted since `_since`; an export alone has them. */
	deleted?: ManifestFile[];
	error: ManifestFile[];
}

export function exportManifest(job: StoredJob, base: string): Manifest {
	const { momentMs, output, deleted = 0, errors = 0 } = job.result as unknown as ExportOutcome;
	const url = (type: string) => `${base}/$export-file/${job.id}/${type}.ndjson`;
	const further = (type: string, count: number) => (count === 0 ? [] : [{ type, url: url(type), count }]);
	const files = output.map(({ type, count }) => ({ type, url: url(type), count }));
	return { ...manifest(job, momentMs, files, further('OperationOutcome', errors)), deleted: further('Bundle', deleted) };
}

export function importManifest(job: StoredJob, base: string): Manifest {
	const { endedMs, counts, refused, warned = 0 } = job.result as unknown as ImportOutcome;
	const output = Object.entries(counts).map(([type, { created, updated, unchanged }]) => ({
		type,
		count: created + updated + unchanged,
		extension: { created, updated, unchanged },
	}));
	const told = (severity: 'error' | 'warning', file: string, count: number): ManifestFile[] => {
		const url = `${base}/$import-file/${job.id}/${file}.ndjson`;
		return count === 0 ? [] : [{ type: 'OperationOutcome', url, count, extension: { severity } }];
	};
	const error = [...told('error', 'OperationOutcome', refused), ...told('warning', 'Warnings', warned)];
	return manifest(job, endedMs, output, error);
}

function manifest(job: StoredJob, transactionTimeMs: number, output: ManifestFile[], error: ManifestFile[]): Manifest {
	return { transactionTime: new Date(transactionTimeMs).toISOString(), request: job.request, requiresAccessToken: true, output, error };
}
