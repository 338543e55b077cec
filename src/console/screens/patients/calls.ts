import type { z } from 'zod';
import type { patientChart, StatedRow as Stated, showPatientInput } from '#administration/patient-chart.ts';
import type { PatientRecord as Patient, searchPatientsInput } from '#administration/patients.ts';
import { call } from '../../api.ts';

export type PatientRecord = Patient;
export type PatientChart = z.output<typeof patientChart>;
export type StatedRow = Stated;

/** The rows of one of `chart.lists`. */
export function statedRows(chart: PatientChart, list: string): readonly StatedRow[] {
	return (chart as unknown as Readonly<Record<string, readonly StatedRow[] | undefined>>)[list] ?? [];
}

export const searchPatients = call<z.input<typeof searchPatientsInput>, PatientRecord[]>('POST', '/sites/{site}/patients/search');
export const showPatient = call<z.input<typeof showPatientInput>, PatientChart>('GET', '/sites/{site}/patients/{id}');
