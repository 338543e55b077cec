import type { z } from 'zod';
import type {
	addReportInput,
	amendReportInput,
	listReportsInput,
	oneReportInput,
	reportRecord,
	searchReportsInput,
	wholeReport,
} from '#administration/reports.ts';
import { call } from '../../api.ts';

export type ReportRecord = z.output<typeof reportRecord>;
export type WholeReport = z.output<typeof wholeReport>;

export const listReports = call<z.input<typeof listReportsInput>, ReportRecord[]>('GET', '/reports');
export const searchReports = call<z.input<typeof searchReportsInput>, ReportRecord[]>('POST', '/reports/search');
export const showReport = call<z.input<typeof oneReportInput>, WholeReport>('GET', '/reports/{id}');
export const addReport = call<z.input<typeof addReportInput>, ReportRecord>('POST', '/reports');
export const completeReport = call<z.input<typeof oneReportInput>, ReportRecord>('POST', '/reports/{id}/complete');
export const amendReport = call<z.input<typeof amendReportInput>, ReportRecord>('POST', '/reports/{id}/amend');
