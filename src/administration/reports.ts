import { z } from 'zod';
import { newId, nilId } from '#core/id.ts';
import type { JsonObject } from '#core/json.ts';
import { isCompleted, type ReportEdit, type ReportEditOutcome } from '#record/report.ts';
import { isFhirId, rowIdOf } from '#record/row-id.ts';
import { isUid } from '#record/uid.ts';
import { readRows } from '#storage/administrative-reader.ts';
import { Site } from '#storage/entities/index.ts';
import { listReportRows, listReportVersions, showReportRow } from '#storage/statements/administrative/read-reports.ts';
import { AdministrationError } from './context.ts';
import type { MessageContext } from './messages.ts';

const uid = z.string().refine(isUid, 'is no DICOM UID');
/** One line; an empty one is none. */
const line = z
	.string()
	.max(500)
	.regex(/^[^\p{Cc}]*\S[^\p{Cc}]*$/u, 'has to be one line that is not empty');
const text = z.string().refine((value) => value.trim() !== '', 'is empty');
/** FHIR R4 §2.24.0.1: a string has no control characters but tab, CR and LF. */
const string = text.refine((value) => !/[^\P{Cc}\t\r\n]/u.test(value), 'has control characters');
const pdf = z
	.instanceof(Uint8Array)
	.refine((bytes) => Buffer.from(bytes.subarray(0, 1024)).includes('%PDF-'), 'is no PDF document')
	.transform((bytes) => Buffer.from(bytes).toString('base64'));

const content = { title: line.optional(), author: line.optional(), conclusion: string.optional(), pdf: pdf.optional() };

export const addReportInput = z.strictObject({
	site: z.string(),
	study: uid,
	text,
	status: z.enum(['draft', 'completed']).default('draft'),
	...content,
});

export const amendReportInput = z.strictObject({ id: z.string(), site: z.string().optional(), text, ...content });

export const listReportsInput = z.strictObject({
	site: z.string().optional(),
	study: uid.optional(),
	status: z.enum(['draft', 'completed']).optional(),
	before: z.uuid().optional(),
	limit: z.coerce.number().int().min(1).max(1000).default(50),
});

export interface ReportRecord {
	id: string;
	site: string;
	study_uid: string | null;
	accession_number: string | null;
	/** Id of the Patient. */
	patient: string | null;
	title: string | null;
	author: string | null;
	/** Amended reports are completed, too. */
	status: 'draft' | 'completed' | 'amended' | 'withdrawn';
	/** DiagnosticReport.status. */
	fhir_status: string;
	version: number;
	updated_at: string;
}

interface Row {
	id: string;
	site: string;
	study: string | null;
	study_uid: string | null;
	study_accession: string | null;
	accession_number: string | null;
	patient: string | null;
	status: string;
	version: number;
	last_updated: Date;
	resource: string;
}

const draftStatuses = ['registered', 'partial', 'preliminary', 'unknown'];
const completedStatuses = ['final', 'amended', 'corrected', 'appended'];

function stateOf(status: string): ReportRecord['status'] {
	if (status === 'final') return 'completed';
	if (isCompleted(status)) return 'amended';
	return draftStatuses.includes(status) ? 'draft' : 'withdrawn';
}

function record(row: Row): ReportRecord {
	const resource = JSON.parse(row.resource) as JsonObject;
	return {
		id: row.id,
		site: row.site,
		study_uid: row.study_uid ?? row.study,
		accession_number: row.study_accession ?? row.accession_number,
		patient: row.patient,
		title: titleOf(resource),
		author: authorOf(resource),
		status: stateOf(row.status),
		fhir_status: row.status,
		version: row.version,
		updated_at: row.last_updated.toISOString(),
	};
}

function titleOf({ code }: JsonObject): string | null {
	const { text: name, coding } = (code ?? {}) as { text?: string; coding?: { display?: string; code?: string }[] };
	return name ?? coding?.[0]?.display ?? coding?.[0]?.code ?? null;
}

function authorOf({ resultsInterpreter, performer }: JsonObject): string | null {
	const [first] = (resultsInterpreter ?? performer ?? []) as { display?: string; identifier?: { value?: string } }[];
	return first?.display ?? first?.identifier?.value ?? null;
}

async function siteOf(context: MessageContext, slug: string): Promise<{ id: string }> {
	const site = await context.em.fork().findOne(Site, { slug });
	if (site === null) throw new AdministrationError(`there is no site '${slug}'`);
	return site;
}

/** The reports of a site or of all, newest first. */
export async function listReports(context: MessageContext, input: z.infer<typeof listReportsInput>): Promise<ReportRecord[]> {
	const site = input.site === undefined ? null : (await siteOf(context, input.site)).id;
	const statuses = input.status === undefined ? null : input.status === 'draft' ? draftStatuses : completedStatuses;
	const values = [site, input.study ?? null, statuses, input.before ?? null, input.limit];
	return (await readRows<Row>(context.databaseUrl, listReportRows, values)).map(record);
}

export interface WholeReportRecord extends ReportRecord {
	text: string | null;
	conclusion: string | null;
	/** Media type and bytes of what is attached beside the text. */
	attachments: { content_type: string | null; bytes: number }[];
	history: { version: number; fhir_status: string; updated_at: string; text: string | null }[];
}

type FoundRow = Row & { site_id: string; row_id: string };

async function found(context: MessageContext, id: string, slug: string | undefined): Promise<FoundRow> {
	const site = slug === undefined ? null : (await siteOf(context, slug)).id;
	const rows = isFhirId(id) ? await readRows<FoundRow>(context.databaseUrl, showReportRow, [site, rowIdOf(id)]) : [];
	const [row, another] = rows;
	if (row === undefined) throw new AdministrationError(`there is no report '${id}'`);
	if (another !== undefined) throw new AdministrationError(`several sites have a report '${id}': name one with --site`);
	return row;
}

type Form = { contentType?: string; data?: string };

function formsOf({ presentedForm }: JsonObject): Form[] {
	return (presentedForm ?? []) as Form[];
}

const isText = ({ contentType, data }: Form) => contentType?.startsWith('text/plain') === true && data !== undefined;

function textOf(resource: JsonObject): string | null {
	const form = formsOf(resource).find(isText);
	return form?.data === undefined ? null : Buffer.from(form.data, 'base64').toString('utf8');
}

/** One report with its text and every version of it. */
export async function showReport(context: MessageContext, id: string, site: string | undefined): Promise<WholeReportRecord> {
	const row = await found(context, id, site);
	const resource = JSON.parse(row.resource) as JsonObject;
	const versions = await readRows<Pick<Row, 'version' | 'last_updated' | 'resource'>>(context.databaseUrl, listReportVersions, [
		row.site_id,
		row.row_id,
	]);
	return {
		...record(row),
		text: textOf(resource),
		conclusion: (resource['conclusion'] as string | undefined) ?? null,
		attachments: formsOf(resource)
			.filter((form) => !isText(form))
			.map(({ contentType, data }) => ({ content_type: contentType ?? null, bytes: Buffer.byteLength(data ?? '', 'base64') })),
		history: versions.map(({ version, last_updated, resource: stored }) => {
			const then = JSON.parse(stored) as JsonObject;
			return { version, fhir_status: String(then['status']), updated_at: last_updated.toISOString(), text: textOf(then) };
		}),
	};
}

/** Writes by the ordinary way, so that the site's order holds, whoever else writes. */
async function write(context: MessageContext, siteId: string, edit: ReportEdit): Promise<string> {
	const nowMs = context.nowMs();
	const [reply] = await context.deliver([
		{
			kind: 'report',
			id: newId(nowMs),
			siteId,
			clientId: nilId,
			surface: 'administration',
			source: context.actor,
			receivedAtMs: nowMs,
			bytes: Buffer.from(JSON.stringify(edit)),
		},
	]);
	const ack = reply?.acks[0];
	if (ack === undefined) throw new Error('the edit of a report was not answered');
	const outcome = JSON.parse(Buffer.from(ack).toString('utf8')) as ReportEditOutcome;
	if (outcome.kind === 'refused') throw new AdministrationError(outcome.diagnostics);
	return outcome.id;
}

/** A report on a study of the site, of which it takes the patient. */
export async function addReport(context: MessageContext, input: z.infer<typeof addReportInput>): Promise<ReportRecord> {
	const { site: slug, study, ...rest } = input;
	const site = await siteOf(context, slug);
	const id = await write(context, site.id, {
		...stated(rest),
		operation: 'add',
		studyUid: study,
		status: input.status,
		actor: context.actor,
	});
	return record(await found(context, id, slug));
}

export async function completeReport(context: MessageContext, id: string, site: string | undefined): Promise<ReportRecord> {
	return changed(context, id, site, (rowId) => ({ operation: 'complete', id: rowId, actor: context.actor }));
}

/** A new version; of a completed report an amendment. A conclusion and a document go with the text that they stood beside. */
export async function amendReport(context: MessageContext, input: z.infer<typeof amendReportInput>): Promise<ReportRecord> {
	const { id, site, ...rest } = input;
	return changed(context, id, site, (rowId) => ({ ...stated(rest), operation: 'amend', id: rowId, actor: context.actor }));
}

async function changed(
	context: MessageContext,
	id: string,
	slug: string | undefined,
	edit: (id: string) => ReportEdit,
): Promise<ReportRecord> {
	const { site_id: siteId, site, id: known } = await found(context, id, slug);
	await write(context, siteId, edit(known));
	return record(await found(context, known, site));
}

type Stated = Partial<Pick<ReportEdit, 'title' | 'text' | 'author' | 'conclusion' | 'pdf'>>;

function stated(input: { [K in keyof Stated]?: Stated[K] | undefined }): Stated {
	const { title, text: body, author, conclusion, pdf: document } = input;
	return {
		...(title === undefined ? {} : { title }),
		...(body === undefined ? {} : { text: body }),
		...(author === undefined ? {} : { author }),
		...(conclusion === undefined ? {} : { conclusion }),
		...(document === undefined ? {} : { pdf: document }),
	};
}
