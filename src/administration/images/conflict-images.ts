import { z } from 'zod';
import type { ReadObject } from '#imaging/stored-data-set.ts';
import { readObjectAt } from '#imaging/stored-frames.ts';
import { type ConflictRow, placeOf } from '../conflicts.ts';
import { AdministrationError, type OperationContext } from '../context.ts';
import type { FileContent } from '../file-content.ts';
import { frameOf, namedFrame } from './files.ts';
import { describeObject, type imageDescription } from './instances.ts';
import { noteOnce } from './noted.ts';

export const conflictSide = z.strictObject({
	id: z.string(),
	side: z.enum(['stored', 'received']).describe('the object that is stored under the UID, or the one in quarantine'),
});
export const conflictFrame = z.strictObject({ ...conflictSide.shape, frame: namedFrame.shape.frame });

async function objectOf(context: OperationContext, row: ConflictRow, side: z.output<typeof conflictSide>['side']): Promise<ReadObject> {
	const key = side === 'stored' ? row.stored_object_key : row.object_key;
	if (key === null) throw new AdministrationError('nothing is stored under the UID', 'not-found', 'side');
	await noteOnce(context, { action: 'conflict.view', subject: row.id, siteId: row.site_id, studies: [row.study_uid] });
	return readObjectAt(context.objects, await placeOf(context, key));
}

export async function describeConflictImage(
	context: OperationContext,
	{ side }: z.output<typeof conflictSide>,
	row: ConflictRow,
): Promise<z.output<typeof imageDescription>> {
	return describeObject(context, await objectOf(context, row, side));
}

export async function frameOfConflict(
	context: OperationContext,
	{ side, frame }: z.output<typeof conflictFrame>,
	row: ConflictRow,
): Promise<FileContent> {
	return frameOf(context, await objectOf(context, row, side), frame);
}
