import { z } from 'zod';
import { commitmentRecord, listCommitments, listCommitmentsInput } from '../commitments.ts';
import {
	conflictRecord,
	conflictRow,
	listConflicts,
	listConflictsInput,
	settleConflict,
	settleConflictInput,
	settledRecord,
	showConflict,
	wholeConflict,
} from '../conflicts.ts';
import type { OperationContext } from '../context.ts';
import { conflictSide, describeConflictImage } from '../images/conflict-images.ts';
import { imageDescription } from '../images/instances.ts';
import { listMpps, listMppsInput, mppsRecord, mppsRow, showMpps, showMppsInput, wholeMpps } from '../mpps.ts';
import { defineOperation } from '../operation.ts';
import { foundOrNull } from '../visible-sites.ts';

const values = {
	site: 'slug',
	id: 'conflict-id',
	before: 'id',
	limit: 'n',
	study: 'uid',
	patient: 'id',
	accession: 'number',
	status: 'in-progress|completed|discontinued',
};
const conflict = {
	scope: 'object',
	called: 'conflict',
	find: (context: OperationContext, { id }: { id: string }) => foundOrNull(conflictRow(context, id)),
	commandLine: { positionals: ['id'], values },
} as const;

export const imagingOperations = [
	defineOperation({
		name: 'mpps list',
		summary: 'lists procedure steps, newest first',
		// POST keeps a patient's identifier out of the URL.
		method: 'POST',
		path: '/mpps/search',
		effect: 'none',
		role: 'auditor',
		scope: 'sites',
		input: listMppsInput,
		output: z.array(mppsRecord),
		commandLine: { values },
		example: { site: 'north', status: 'completed' },
		run: listMpps,
	}),
	defineOperation({
		name: 'mpps show',
		summary: 'shows a procedure step with its attributes and all of its reports; the audit trail records this',
		effect: 'noted',
		method: 'GET',
		path: '/mpps/{id}',
		role: 'auditor',
		scope: 'object',
		called: 'procedure step',
		find: (context, { id }) => foundOrNull(mppsRow(context, id)),
		input: showMppsInput,
		output: wholeMpps,
		commandLine: { positionals: ['id'], values: { site: 'slug', id: 'session-id | sop-instance-uid' } },
		example: (idOf) => ({ id: idOf('mpps list') }),
		run: (context, _input, found) => showMpps(context, found),
	}),
	defineOperation({
		name: 'commitment list',
		summary: 'lists storage commitment requests and their reports, newest first',
		method: 'GET',
		path: '/commitments',
		role: 'auditor',
		scope: 'sites',
		input: listCommitmentsInput,
		output: z.array(commitmentRecord),
		commandLine: { values },
		example: { site: 'north', state: 'failed' },
		run: listCommitments,
	}),
	defineOperation({
		name: 'conflict list',
		summary:
			'lists conflicts (different content under a stored SOP Instance UID, images that name another patient than their study) that wait for a decision, newest first; --all adds settled ones',
		method: 'GET',
		path: '/conflicts',
		role: 'auditor',
		scope: 'sites',
		input: listConflictsInput,
		output: z.array(conflictRecord),
		commandLine: { values },
		example: { site: 'north' },
		run: listConflicts,
	}),
	defineOperation({
		...conflict,
		name: 'conflict show',
		summary: 'shows the stored and the received object and how they differ; the audit trail records this',
		effect: 'noted',
		method: 'GET',
		path: '/conflicts/{id}',
		role: 'auditor',
		input: z.strictObject({ id: z.string() }),
		output: wholeConflict,
		example: (idOf) => ({ id: idOf('conflict list') }),
		run: (context, _input, found) => showConflict(context, found),
	}),
	defineOperation({
		...conflict,
		name: 'conflict image',
		summary: 'tells how the pixels of an object of a conflict are to be shown; the audit trail records once a minute who looks at them',
		effect: 'noted',
		method: 'GET',
		path: '/conflicts/{id}/{side}/image',
		role: 'auditor',
		input: conflictSide,
		output: imageDescription,
		commandLine: { positionals: ['id', 'side'], values },
		example: (idOf) => ({ id: idOf('conflict list'), side: 'received' as const }),
		run: describeConflictImage,
	}),
	defineOperation({
		...conflict,
		name: 'conflict settle',
		summary:
			'settles a conflict: keeps the stored object, or replaces it with the received one; the other object stays in quarantine. An image that names another patient than its study is taken into that study (received), or becomes a study of its own (split)',
		method: 'POST',
		path: '/conflicts/{id}/settle',
		role: 'manager',
		input: settleConflictInput,
		output: settledRecord,
		example: (idOf) => ({ id: idOf('conflict list'), keep: 'stored' as const }),
		run: settleConflict,
	}),
];
