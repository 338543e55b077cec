import type { z } from 'zod';
import type { addHoldInput, holdRecord, listHoldsInput, removeHoldInput } from '#administration/holds.ts';
import type {
	deletedStudiesInput,
	deletedStudy,
	finishedRun,
	foreseenRemoval,
	keptPolicy,
	listRunsInput,
	retentionRun,
} from '#administration/retention.ts';
import { call } from '../../api.ts';

export type KeptPolicy = z.output<typeof keptPolicy>;
export type ForeseenRemoval = z.output<typeof foreseenRemoval>;
export type RetentionRun = z.output<typeof retentionRun>;
export type DeletedStudy = z.output<typeof deletedStudy>;
export type HoldRecord = z.output<typeof holdRecord>;

export const showRetention = call<{ site?: string | undefined }, KeptPolicy[]>('GET', '/retention');
export const previewRetention = call<{ site?: string | undefined }, ForeseenRemoval[]>('GET', '/retention/preview');
export const listRuns = call<z.input<typeof listRunsInput>, RetentionRun[]>('GET', '/retention/runs');
export const runRetention = call<object, z.output<typeof finishedRun>>('POST', '/retention/runs');
export const listDeletedStudies = call<z.input<typeof deletedStudiesInput>, DeletedStudy[]>('GET', '/retention/deleted-studies');
export const listHolds = call<z.input<typeof listHoldsInput>, HoldRecord[]>('GET', '/holds');
export const addHold = call<z.input<typeof addHoldInput>, HoldRecord>('POST', '/sites/{site}/holds');
export const removeHold = call<z.input<typeof removeHoldInput>, HoldRecord>('DELETE', '/holds/{id}');
