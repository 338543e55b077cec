import type { z } from 'zod';
import type { patientChart, StatedRow as Stated, showPatientInput } from '#administration/patient-chart.ts';
import type { patientResults, patientResultsInput } from '#administration/patient-results.ts';
import type { patientTimeline, patientTimelineInput } from '#administration/patient-timeline.ts';
import type { PatientRecord as Patient, searchPatientsInput } from '#administration/patients.ts';
import { call } from '../../api.ts';

export type PatientRecord = Patient;
export type PatientChart = z.output<typeof patientChart>;
export type StatedRow = Stated;
type PatientResults = z.output<typeof patientResults>;
export type PatientResult = PatientResults['results'][number];

/** The rows of one of `chart.lists`. */
export function statedRows(chart: PatientChart, list: string): readonly StatedRow[] {
	return (chart as unknown as Readonly<Record<string, readonly StatedRow[] | undefined>>)[list] ?? [];
}

export const searchPatients = call<z.input<typeof searchPatientsInput>, PatientRecord[]>('POST', '/sites/{site}/patients/search');
export const showPatient = call<z.input<typeof showPatientInput>, PatientChart>('GET', '/sites/{site}/patients/{id}');
type PatientTimeline = z.output<typeof patientTimeline>;
export type TimelineEntry = PatientTimeline['entries'][number];

export const listResults = call<z.input<typeof patientResultsInput>, PatientResults>('GET', '/sites/{site}/patients/{id}/results');
export const showTimeline = call<z.input<typeof patientTimelineInput>, PatientTimeline>('GET', '/sites/{site}/patients/{id}/timeline');
