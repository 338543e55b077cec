import type { z } from 'zod';
import type { searchStudiesInput, showStudyInput, studyRecord, wholeStudy } from '#administration/studies.ts';
import { call } from '../../api.ts';

export type StudyRecord = z.output<typeof studyRecord>;
export type WholeStudy = z.output<typeof wholeStudy>;

export const searchStudies = call<z.input<typeof searchStudiesInput>, StudyRecord[]>('POST', '/sites/{site}/studies/search');
export const showStudy = call<z.input<typeof showStudyInput>, WholeStudy>('GET', '/sites/{site}/studies/{id}');
