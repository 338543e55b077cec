import { z } from 'zod';
import type { OperationContext } from '../context.ts';
import { defineOperation } from '../operation.ts';
import {
	addReport,
	addReportInput,
	amendReport,
	amendReportInput,
	completeReport,
	listReports,
	listReportsInput,
	oneReportInput,
	reportRecord,
	reportRow,
	showReport,
	wholeReport,
} from '../reports.ts';
import { foundOrNull } from '../visible-sites.ts';

const values = {
	site: 'slug',
	id: 'report-id',
	study: 'uid',
	text: 'text|@file',
	title: 'text',
	author: 'name',
	conclusion: 'text|@file',
	pdf: 'file',
	before: 'report-id',
	limit: 'n',
};
const files = { text: 'text', conclusion: 'text', pdf: 'base64' } as const;
const one = {
	scope: 'object',
	called: 'report',
	find: (context: OperationContext, { id }: { id: string }) => foundOrNull(reportRow(context, id)),
	commandLine: { positionals: ['id'], values, files },
} as const;

export const reportOperations = [
	defineOperation({
		name: 'report add',
		summary: 'writes a report on a study of the site; it is a draft unless the status is completed',
		method: 'POST',
		path: '/reports',
		role: 'manager',
		scope: 'site',
		input: addReportInput,
		output: reportRecord,
		commandLine: { values, files },
		example: { site: 'north', study: '1.2.826.0.1.2', title: 'CT chest', text: 'Lungs clear.', author: 'Dr. Weiss' },
		run: addReport,
	}),
	defineOperation({
		name: 'report list',
		summary: 'lists reports, newest first; amended reports count as completed',
		method: 'GET',
		path: '/reports',
		role: 'auditor',
		scope: 'sites',
		input: listReportsInput,
		output: z.array(reportRecord),
		commandLine: { values },
		example: { site: 'north', status: 'draft' },
		run: listReports,
	}),
	defineOperation({
		...one,
		name: 'report show',
		summary: 'shows a report with its text and all of its versions; the audit trail records this',
		effect: 'noted',
		method: 'GET',
		path: '/reports/{id}',
		role: 'auditor',
		input: oneReportInput,
		output: wholeReport,
		example: (idOf) => ({ id: idOf('report add') }),
		run: (context, _input, found) => showReport(context, found),
	}),
	defineOperation({
		...one,
		name: 'report complete',
		summary: 'makes a draft final',
		method: 'POST',
		path: '/reports/{id}/complete',
		role: 'manager',
		input: oneReportInput,
		output: reportRecord,
		example: (idOf) => ({ id: idOf('report add') }),
		run: (context, { id }, found) => completeReport(context, id, found),
	}),
	defineOperation({
		...one,
		name: 'report amend',
		summary: 'writes a new version of a report; a completed report becomes amended',
		method: 'POST',
		path: '/reports/{id}/amend',
		role: 'manager',
		input: amendReportInput,
		output: reportRecord,
		example: (idOf) => ({ id: idOf('report add'), text: 'Lungs clear. Heart enlarged.' }),
		run: amendReport,
	}),
];
