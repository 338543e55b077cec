import { z } from 'zod';
import { isUuid } from '#core/id.ts';
import { listJobs, removeJob, showJob } from '#storage/statements/administrative/read-bulk-jobs.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { instant, ofSite, page } from './schemas.ts';
import { visibleSiteIds } from './visible-sites.ts';

const kinds = ['export', 'import'] as const;
const states = ['receiving', 'waiting', 'running', 'done', 'failed', 'interrupted'] as const;

export const listBulkInput = z.strictObject({
	...ofSite,
	kind: z.enum(kinds).optional().describe('only exports, or only imports'),
	state: z.enum(states).optional().describe('how far the job has come'),
	...page(50),
});

export const bulkRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	kind: z.enum(kinds),
	state: z.enum(states),
	key_id: z.string().describe('the API key that asked, or token: and the client of an access token'),
	asked_by: z.string().describe('the label of that key, or the client of the token'),
	request: z.string().describe('the URL that was asked for'),
	progress: z.string(),
	lines: z.int().describe('lines of an import that are settled'),
	failure: z.string().nullable(),
	created_at: instant,
	finished_at: instant.nullable(),
});
type BulkRecord = z.infer<typeof bulkRecord>;

export const wholeBulk = bulkRecord.extend({
	files: z
		.array(
			z.strictObject({
				name: z.string(),
				count: z.int().describe('resources or lines'),
				path: z.string().nullable().describe('where a key of the site fetches the file at the FHIR port; null: there is no file'),
			}),
		)
		.describe('what a finished job has; files are kept for BULK_AGE_MS_MAX'),
});
type WholeBulk = z.infer<typeof wholeBulk>;

export const cancelledBulk = bulkRecord.pick({ id: true, site: true, kind: true }).extend({
	was: z.enum(states).describe('how far the job had come'),
});

type Row = Omit<BulkRecord, 'created_at' | 'finished_at' | 'lines'> & { created_at: Date; finished_at: Date | null; position: string };
type WholeRow = Row & { site_id: string; result: unknown };

function recordOf({ id, site, kind, state, key_id, asked_by, request, progress, failure, ...row }: Row): BulkRecord {
	return {
		...{ id, site, kind, state, key_id, asked_by, request, progress, failure },
		lines: Number(row.position),
		created_at: row.created_at.toISOString(),
		finished_at: row.finished_at?.toISOString() ?? null,
	};
}

/** Lists exports and imports, newest first. */
export async function listBulk(context: OperationContext, input: Omit<z.infer<typeof listBulkInput>, 'site'>): Promise<BulkRecord[]> {
	const filters = [input.kind, input.state, input.before].map((value) => value ?? null);
	const rows = await context.database.rows<Row>(listJobs, [await visibleSiteIds(context), ...filters, input.limit]);
	return rows.map(recordOf);
}

/** Finds a job by its id. */
export async function bulkRow(context: OperationContext, id: string): Promise<WholeRow> {
	const [row] = isUuid(id) ? await context.database.rows<WholeRow>(showJob, [await visibleSiteIds(context), id]) : [];
	if (row === undefined) throw new AdministrationError(`there is no export or import '${id}'`, 'not-found');
	return row;
}

/** Jobs leave this behind. The manifest that the client reads is made of the same (surfaces/fhir/bulk-manifest). */
const exported = z.object({
	output: z.array(z.object({ type: z.string(), count: z.number() })),
	deleted: z.number().default(0),
	errors: z.number().default(0),
});
const imported = z.object({
	counts: z.record(z.string(), z.object({ created: z.number(), updated: z.number(), unchanged: z.number() })),
	refused: z.number(),
	warned: z.number().default(0),
});

export function showBulk(row: WholeRow): WholeBulk {
	return { ...recordOf(row), files: row.result === null ? [] : row.kind === 'export' ? exportFiles(row) : importFiles(row) };
}

function exportFiles({ id, result }: WholeRow): WholeBulk['files'] {
	const { output, deleted, errors } = exported.parse(result);
	const further = [
		{ type: 'Bundle', count: deleted },
		{ type: 'OperationOutcome', count: errors },
	];
	return [...output, ...further.filter(({ count }) => count > 0)].map(({ type, count }) => ({
		name: type,
		count,
		path: `/fhir/$export-file/${id}/${type}.ndjson`,
	}));
}

function importFiles({ id, result }: WholeRow): WholeBulk['files'] {
	const { counts, refused, warned } = imported.parse(result);
	const types = Object.entries(counts).map(([name, { created, updated, unchanged }]) => ({
		name,
		count: created + updated + unchanged,
		path: null,
	}));
	const told = [
		{ name: 'OperationOutcome', count: refused },
		{ name: 'Warnings', count: warned },
	].filter(({ count }) => count > 0);
	return [...types, ...told.map((file) => ({ ...file, path: `/fhir/$import-file/${id}/${file.name}.ndjson` }))];
}

/** The process that carries the job out notices within a second that it is gone, and removes its files; so does the node that keeps them. */
export async function cancelBulk(context: OperationContext, row: WholeRow): Promise<z.infer<typeof cancelledBulk>> {
	const { id, site, site_id: siteId, kind, state: was } = row;
	await note(context, { action: `bulk.${kind}.delete`, subject: id, siteId });
	await context.database.run(removeJob, [siteId, id]);
	return { id, site, kind, was };
}
