import { z } from 'zod';
import { bulkRecord, bulkRow, cancelBulk, cancelledBulk, listBulk, listBulkInput, showBulk, wholeBulk } from '../bulk.ts';
import type { OperationContext } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { foundOrNull } from '../visible-sites.ts';

const values = { site: 'slug', id: 'job-id', before: 'job-id', limit: 'n' };
const one = {
	scope: 'object',
	called: 'export or import',
	find: (context: OperationContext, { id }: { id: string }) => foundOrNull(bulkRow(context, id)),
	input: z.strictObject({ id: z.string() }),
	commandLine: { positionals: ['id'], values },
	example: (idOf: (operation: string) => string) => ({ id: idOf('bulk list') }),
} as const;

export const bulkOperations = [
	defineOperation({
		name: 'bulk list',
		summary: 'lists exports and imports (FHIR bulk data), newest first',
		method: 'GET',
		path: '/bulk-jobs',
		role: 'auditor',
		scope: 'sites',
		input: listBulkInput,
		output: z.array(bulkRecord),
		commandLine: { values },
		example: { site: 'north', limit: 20 },
		run: listBulk,
	}),
	defineOperation({
		...one,
		name: 'bulk show',
		summary: 'shows an export or import, with its files',
		method: 'GET',
		path: '/bulk-jobs/{id}',
		role: 'auditor',
		output: wholeBulk,
		run: async (_context, _input, found) => showBulk(found),
	}),
	defineOperation({
		...one,
		name: 'bulk cancel',
		summary: 'cancels an export or import that is under way, or removes one that has ended; its files are deleted',
		method: 'DELETE',
		path: '/bulk-jobs/{id}',
		role: 'manager',
		output: cancelledBulk,
		run: (context, _input, found) => cancelBulk(context, found),
	}),
];
