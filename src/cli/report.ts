import { readFile } from 'node:fs/promises';
import {
	addReport,
	addReportInput,
	amendReport,
	amendReportInput,
	completeReport,
	listReports,
	listReportsInput,
	showReport,
} from '#administration/reports.ts';
import { type Command, given, type Options, required, string, text, UsageError } from './command.ts';

const content = { title: string, text: string, author: string, conclusion: string, pdf: string } as const;
const contentUsage = '--text <text|@file> [--title <text>] [--author <name>] [--conclusion <text|@file>] [--pdf <file>]';

/** `@file` stands for the content of a file. */
async function textOrFile(value: string): Promise<string> {
	return value.startsWith('@') ? readFile(value.slice(1), 'utf8') : value;
}

async function contentOf(options: Options) {
	const conclusion = text(options, 'conclusion');
	const pdf = text(options, 'pdf');
	return {
		text: await textOrFile(required(options, 'text')),
		title: text(options, 'title'),
		author: text(options, 'author'),
		conclusion: conclusion === undefined ? undefined : await textOrFile(conclusion),
		pdf: pdf === undefined ? undefined : await readFile(pdf),
	};
}

function statusOf(options: Options): string | undefined {
	const status = text(options, 'status');
	if (status !== undefined && status !== 'draft' && status !== 'completed') throw new UsageError('--status is draft or completed');
	return status;
}

export const reportCommands: Command[] = [
	{
		name: 'report add',
		usage: `--site <slug> --study <uid> ${contentUsage} [--status draft|completed]`,
		summary: 'writes a report on a study of the site; a draft, unless it is said to be completed',
		positionals: [0, 0],
		options: { site: string, study: string, status: string, ...content },
		run: async (context, { options }) => {
			const [site, study, status] = [required(options, 'site'), required(options, 'study'), statusOf(options)];
			return addReport(context, addReportInput.parse(given({ site, study, status, ...(await contentOf(options)) })));
		},
	},
	{
		name: 'report list',
		usage: '[--site s] [--study uid] [--status draft|completed] [--before id] [--limit n]',
		summary: 'lists reports, newest first; amended ones are completed, too',
		positionals: [0, 0],
		options: { site: string, study: string, status: string, before: string, limit: string },
		run: (context, { options }) =>
			listReports(
				context,
				listReportsInput.parse(
					given({
						site: text(options, 'site'),
						study: text(options, 'study'),
						status: statusOf(options),
						before: text(options, 'before'),
						limit: text(options, 'limit'),
					}),
				),
			),
	},
	{
		name: 'report show',
		usage: '<report-id> [--site s]',
		summary: 'shows a report with its text and every version of it',
		positionals: [1, 1],
		options: { site: string },
		run: (context, { positionals, options }) => showReport(context, positionals[0] ?? '', text(options, 'site')),
	},
	{
		name: 'report complete',
		usage: '<report-id> [--site s]',
		summary: 'makes a draft final',
		positionals: [1, 1],
		options: { site: string },
		run: (context, { positionals, options }) => completeReport(context, positionals[0] ?? '', text(options, 'site')),
	},
	{
		name: 'report amend',
		usage: `<report-id> ${contentUsage} [--site s]`,
		summary: 'writes a new version; a completed report becomes amended',
		positionals: [1, 1],
		options: { site: string, ...content },
		run: async (context, { positionals, options }) =>
			amendReport(
				context,
				amendReportInput.parse(given({ id: positionals[0] ?? '', site: text(options, 'site'), ...(await contentOf(options)) })),
			),
	},
];
