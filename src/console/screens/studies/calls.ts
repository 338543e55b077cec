import type { z } from 'zod';
import type { histogram, siteHistogramInput } from '#administration/histograms.ts';
import type { sendStudyInput, sentStudy } from '#administration/images/send.ts';
import type { viewerInput, viewerLink } from '#administration/images/viewer.ts';
import type { listMppsInput, mppsRecord } from '#administration/mpps.ts';
import type { searchStudiesInput, showStudyInput, studyRecord, wholeStudy } from '#administration/studies.ts';
import type {
	assignStudyInput,
	listStudyEditsInput,
	moveStudyInput,
	previewStudyInput,
	splitStudyInput,
	studyEditRecord,
	studyEditResult,
	studyPreview,
	undoStudyInput,
} from '#administration/study-edits.ts';
import { call } from '../../api.ts';

export type StudyRecord = z.output<typeof studyRecord>;
export type WholeStudy = z.output<typeof wholeStudy>;

export const searchStudies = call<z.input<typeof searchStudiesInput>, StudyRecord[]>('POST', '/sites/{site}/studies/search');
export type StudyPreview = z.output<typeof studyPreview>;
export type StudyEditRecord = z.output<typeof studyEditRecord>;
type StudyEditResult = z.output<typeof studyEditResult>;

export const previewStudy = call<z.input<typeof previewStudyInput>, StudyPreview>('POST', '/sites/{site}/study-edits/preview');
export const assignStudy = call<z.input<typeof assignStudyInput>, StudyEditResult>('POST', '/sites/{site}/study-edits/assign');
export const splitStudy = call<z.input<typeof splitStudyInput>, StudyEditResult>('POST', '/sites/{site}/study-edits/split');
export const moveStudy = call<z.input<typeof moveStudyInput>, StudyEditResult>('POST', '/sites/{site}/study-edits/move');
export const listStudyEdits = call<z.input<typeof listStudyEditsInput>, StudyEditRecord[]>('GET', '/sites/{site}/study-edits');
export const undoStudy = call<z.input<typeof undoStudyInput>, StudyEditResult>('POST', '/sites/{site}/study-edits/{edit}/undo');
export type ProcedureStep = z.output<typeof mppsRecord>;
export const listSteps = call<z.input<typeof listMppsInput>, ProcedureStep[]>('POST', '/mpps/search');
export const showStudy = call<z.input<typeof showStudyInput>, WholeStudy>('GET', '/sites/{site}/studies/{id}');
export const openInViewer = call<z.input<typeof viewerInput>, z.output<typeof viewerLink>>('POST', '/sites/{site}/studies/{study}/viewer');
export type SentStudy = z.output<typeof sentStudy>;
export const sendStudy = call<z.input<typeof sendStudyInput>, SentStudy>('POST', '/sites/{site}/study-sends');
export const countStudies = call<z.input<typeof siteHistogramInput>, z.output<typeof histogram>>('GET', '/studies/histogram');
