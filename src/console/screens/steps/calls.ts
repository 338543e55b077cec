import type { z } from 'zod';
import type { listMppsInput, mppsRecord, showMppsInput, wholeMpps } from '#administration/mpps.ts';
import { call } from '../../api.ts';

export type StepRecord = z.output<typeof mppsRecord>;
export type WholeStep = z.output<typeof wholeMpps>;

export const listSteps = call<z.input<typeof listMppsInput>, StepRecord[]>('POST', '/mpps/search');
export const showStep = call<z.input<typeof showMppsInput>, WholeStep>('GET', '/mpps/{id}');
