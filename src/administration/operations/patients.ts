import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { patientChart, showPatient, showPatientInput } from '../patient-chart.ts';
import { patientRecord, searchPatients, searchPatientsInput } from '../patients.ts';
import { searchStudies, searchStudiesInput, showStudy, showStudyInput, studyRecord, wholeStudy } from '../studies.ts';

const values = { site: 'slug', id: 'id', text: 'text', before: 'patient-id', limit: 'n', started: 'date', modality: 'modality' };

export const patientOperations = [
	defineOperation({
		name: 'patient search',
		summary: 'finds patients of a site by identifier, name or birth date',
		method: 'POST',
		path: '/sites/{site}/patients/search',
		role: 'auditor',
		effect: 'none',
		scope: 'site',
		input: searchPatientsInput,
		output: z.array(patientRecord),
		commandLine: { values },
		example: { site: 'north', text: 'doe' },
		run: searchPatients,
	}),
	defineOperation({
		name: 'patient show',
		summary: "shows a patient with all of the site's data about them, and the origin of each value; the audit trail records this",
		method: 'GET',
		path: '/sites/{site}/patients/{id}',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: showPatientInput,
		output: patientChart,
		commandLine: { positionals: ['id'], values },
		example: (idOf) => ({ site: 'north', id: idOf('patient search') }),
		run: showPatient,
	}),
	defineOperation({
		name: 'study search',
		summary: 'finds studies of a site by accession number, UID, modality or day, newest first',
		method: 'POST',
		path: '/sites/{site}/studies/search',
		role: 'auditor',
		effect: 'none',
		scope: 'site',
		input: searchStudiesInput,
		output: z.array(studyRecord),
		commandLine: { values },
		example: { site: 'north', modality: 'CT' },
		run: searchStudies,
	}),
	defineOperation({
		name: 'study show',
		summary: 'shows a study with its series; the audit trail records this',
		method: 'GET',
		path: '/sites/{site}/studies/{id}',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: showStudyInput,
		output: wholeStudy,
		commandLine: { positionals: ['id'], values },
		example: (idOf) => ({ site: 'north', id: idOf('study search') }),
		run: showStudy,
	}),
];
