import type { z } from 'zod';
import type { bulkRecord, cancelledBulk, listBulkInput, wholeBulk } from '#administration/bulk.ts';
import { call } from '../../api.ts';

export type BulkRecord = z.output<typeof bulkRecord>;
export type WholeBulk = z.output<typeof wholeBulk>;

export const listJobs = call<z.input<typeof listBulkInput>, BulkRecord[]>('GET', '/bulk-jobs');
export const showJob = call<{ id: string }, WholeBulk>('GET', '/bulk-jobs/{id}');
export const cancelJob = call<{ id: string }, z.output<typeof cancelledBulk>>('DELETE', '/bulk-jobs/{id}');
