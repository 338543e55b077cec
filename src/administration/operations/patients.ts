import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { patientChart, showPatient, showPatientInput } from '../patient-chart.ts';
import { listPatientResults, patientResults, patientResultsInput } from '../patient-results.ts';
import { patientTimeline, patientTimelineInput, showTimeline } from '../patient-timeline.ts';
import { patientRecord, searchPatients, searchPatientsInput } from '../patients.ts';
import { searchStudies, searchStudiesInput, showStudy, showStudyInput, studyRecord, wholeStudy } from '../studies.ts';

const values = { site: 'slug', id: 'id', text: 'text', before: 'patient-id', limit: 'n', started: 'date', modality: 'modality' };
const period = { since: 'time', until: 'time' };

export const patientOperations = [
	defineOperation({
		name: 'patient search',
		summary: 'finds patients of a site by identifier, name or birth date',
		method: 'POST',
		path: '/sites/{site}/patients/search',
		role: 'auditor',
		effect: 'noted',
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
		name: 'patient results',
		summary: 'lists the results of a patient in a period, with what follows from their reference ranges; the audit trail records this',
		method: 'GET',
		path: '/sites/{site}/patients/{id}/results',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: patientResultsInput,
		output: patientResults,
		commandLine: { positionals: ['id'], values: { ...values, ...period, code: 'code' } },
		example: (idOf) => ({ site: 'north', id: idOf('patient search'), since: '2026-01-01' }),
		run: listPatientResults,
	}),
	defineOperation({
		name: 'patient timeline',
		summary:
			'lists visits, messages, procedure steps, studies, results, reports and changes of identity of a patient in one order, newest first; the audit trail records this',
		method: 'GET',
		path: '/sites/{site}/patients/{id}/timeline',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: patientTimelineInput,
		output: patientTimeline,
		commandLine: { positionals: ['id'], values: { ...values, ...period, kind: 'kind', before: 'key' } },
		example: (idOf) => ({ site: 'north', id: idOf('patient search'), limit: 20 }),
		run: showTimeline,
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
