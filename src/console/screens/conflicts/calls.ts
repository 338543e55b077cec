import type { z } from 'zod';
import type { conflictRecord, listConflictsInput, settleConflictInput, settledRecord, wholeConflict } from '#administration/conflicts.ts';
import { call } from '../../api.ts';

export type ConflictRecord = z.output<typeof conflictRecord>;
export type WholeConflict = z.output<typeof wholeConflict>;

export const listConflicts = call<z.input<typeof listConflictsInput>, ConflictRecord[]>('GET', '/conflicts');
export const showConflict = call<{ id: string }, WholeConflict>('GET', '/conflicts/{id}');
export const settleConflict = call<z.input<typeof settleConflictInput>, z.output<typeof settledRecord>>('POST', '/conflicts/{id}/settle');
