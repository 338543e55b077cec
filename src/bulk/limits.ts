import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Limits of exports and imports. */
export const bulkLimitDefinitions = {
	bulkUnderWayMax: {
		variable: 'BULK_UNDER_WAY_MAX',
		default: 2,
		min: 1,
		max: 100,
		answer: 'exports and imports of one site that run at the same time; 429 with Retry-After',
	},
	bulkKeyUnderWayMax: {
		variable: 'BULK_KEY_UNDER_WAY_MAX',
		default: 2,
		min: 1,
		max: 100,
		answer: 'exports and imports of one key that run or wait at the same time; 429 with Retry-After',
	},
	bulkRunningMax: {
		variable: 'BULK_RUNNING_MAX',
		default: 2,
		min: 1,
		max: 100,
		ofNode: 'shared',
		answer: 'exports and imports of all sites that a node carries out at the same time; further ones wait',
	},
	bulkSiteRunningMax: {
		variable: 'BULK_SITE_RUNNING_MAX',
		default: 1,
		min: 1,
		max: 100,
		ofNode: 'shared',
		answer: 'exports and imports of one site that a node carries out at the same time; further ones wait, and other sites go before them',
	},
	bulkKeptMax: {
		variable: 'BULK_KEPT_MAX',
		default: 20,
		min: 1,
		max: 10_000,
		answer: 'finished exports and imports of one site that are kept; 429 until one is deleted or expires',
	},
	bulkAgeMsMax: {
		variable: 'BULK_AGE_MS_MAX',
		default: 86_400_000,
		min: 1000,
		max: 31_536_000_000,
		answer: 'time since the end of an export or import; its results are removed, then 404',
	},
	exportPatientsMax: {
		variable: 'EXPORT_PATIENTS_MAX',
		default: 10_000,
		min: 1,
		max: 1_000_000,
		answer: 'patients that the parameter patient of one export names; 400',
	},
	importBytesMax: {
		variable: 'IMPORT_BYTES_MAX',
		default: 16_384 * MiB,
		min: 1024,
		max: 1_048_576 * MiB,
		answer: 'bytes of one import; 413',
	},
	importLineBytesMax: {
		variable: 'IMPORT_LINE_BYTES_MAX',
		default: 32 * MiB,
		min: 1024,
		max: 256 * MiB,
		answer: 'bytes of one line of an import; a longer line is refused, the others are imported',
	},
	importLineCpuMsMax: {
		variable: 'IMPORT_LINE_CPU_MS_MAX',
		default: 10_000,
		min: 100,
		max: 600_000,
		answer: 'processor time to read and check one line of an import; the line is refused, the others are imported',
	},
	importChunkLinesMax: {
		variable: 'IMPORT_CHUNK_LINES_MAX',
		default: 2000,
		min: 1,
		max: 100_000,
		answer: 'lines of an import in one transaction; further lines wait for the next one',
	},
	importRefusedMax: {
		variable: 'IMPORT_REFUSED_MAX',
		default: 100_000,
		min: 1,
		max: 10_000_000,
		answer: 'lines of an import that are refused or wait for a later line; beyond it the import fails',
	},
} as const satisfies LimitDefinitions;

export type BulkLimits = LimitsOf<typeof bulkLimitDefinitions>;
