import { z } from 'zod';
import { newId, nilId } from '#core/id.ts';
import { type JsonObject, parseExact } from '#core/json.ts';
import { asObjects } from '#fhir/elements.ts';
import { referencedRow } from '#fhir/links.ts';
import { measured } from '#fhir/measured.ts';
import { conceptText, personName, referencedId } from '#fhir/summaries.ts';
import { isCompleted, type ReportEdit } from '#record/report.ts';
import { isFhirId, rowIdOf } from '#record/row-id.ts';
import { noSettings } from '#record/settings/settings.ts';
import { isUid } from '#record/uid.ts';
import {
	listReportEditors,
	listReportResults,
	listReportRows,
	listReportVersions,
	searchReportRows,
	showReportRow,
} from '#storage/statements/administrative/read-reports.ts';
import { firstIdOf } from '#storage/statements/administrative/search-messages.ts';
import { numbersAlike, patientsAlike } from './alike.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { measuredFacts } from './patient-results.ts';
import { instant, ofSite, page } from './schemas.ts';
import { siteBySlug } from './sites.ts';
import { visibleSiteIds } from './visible-sites.ts';

const uid = z.string().refine(isUid, 'must be a DICOM UID');
/** One line that is not empty. */
const line = z
	.string()
	.max(500)
	.regex(/^[^\p{Cc}]*\S[^\p{Cc}]*$/u, 'must be one line and not empty');
const text = z.string().refine((value) => value.trim() !== '', 'must not be empty');
/** FHIR R4 §2.24.0.1: a string has no control characters but tab, CR and LF. */
const string = text.refine((value) => !/[^\P{Cc}\t\r\n]/u.test(value), 'must not contain control characters');
const pdf = z.base64().refine((encoded) => Buffer.from(encoded.slice(0, 1368), 'base64').includes('%PDF-'), 'must be a PDF document');

const content = { title: line.optional(), author: line.optional(), conclusion: string.optional(), pdf: pdf.optional() };

export const addReportInput = z.strictObject({
	site: z.string(),
	study: uid,
	text,
	status: z.enum(['draft', 'completed']).default('draft'),
	...content,
});

export const amendReportInput = z.strictObject({ id: z.string(), ...ofSite, text, ...content });
export const oneReportInput = z.strictObject({ id: z.string(), ...ofSite });

export const listReportsInput = z.strictObject({
	...ofSite,
	study: uid.optional(),
	status: z.enum(['draft', 'completed']).optional(),
	category: z.string().max(100).optional().describe('a code of the category, such as RAD or LAB (table 0074)'),
	images: z.boolean().default(false).describe('only reports that name a study or an accession number, as panels of a laboratory do not'),
	...page(50),
});

export const searchReportsInput = z.strictObject({
	...listReportsInput.shape,
	text: z
		.string()
		.trim()
		.max(200)
		.default('')
		.describe('the beginning of an identifier of the patient, an accession number or an order number of the filler, in any case'),
});

export const reportState = z.enum(['draft', 'completed', 'amended', 'withdrawn']).describe('an amended report is also completed');

export const reportRecord = z.strictObject({
	id: z.string(),
	site: z.string(),
	study_uid: z.string().nullable(),
	accession_number: z.string().nullable(),
	patient: z.string().nullable().describe('id of the Patient'),
	title: z.string().nullable(),
	author: z.string().nullable(),
	status: reportState,
	fhir_status: z.string().describe('DiagnosticReport.status'),
	from_message: z
		.boolean()
		.describe('true for a report that came with a message or from a FHIR client; the system that sent it completes it'),
	version: z.int(),
	updated_at: instant,
	study_description: z.string().nullable(),
	patient_name: z.string().nullable(),
	category: z.string().describe('the categories, as text'),
});
type ReportRecord = z.infer<typeof reportRecord>;

interface Row {
	id: string;
	site: string;
	study: string | null;
	study_uid: string | null;
	study_accession: string | null;
	study_description: string | null;
	patient_resource: string | null;
	accession_number: string | null;
	patient: string | null;
	origin: string | null;
	status: string;
	version: number;
	last_updated: Date;
	resource: string;
}

const draftStatuses = ['registered', 'partial', 'preliminary', 'unknown'];
const completedStatuses = ['final', 'amended', 'corrected', 'appended'];

/** The one word for the state of a report, by its DiagnosticReport.status. */
export function stateOf(status: string): ReportRecord['status'] {
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
		from_message: row.origin !== 'person',
		version: row.version,
		updated_at: row.last_updated.toISOString(),
		study_description: row.study_description,
		patient_name: row.patient_resource === null ? null : personName((JSON.parse(row.patient_resource) as JsonObject)['name']),
		category: asObjects(resource['category']).map(conceptText).join(', '),
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

/** Lists reports, newest first. */
export async function listReports(
	context: OperationContext,
	input: Omit<z.infer<typeof listReportsInput>, 'site' | 'images'> & { images?: boolean; text?: string },
): Promise<ReportRecord[]> {
	const statuses = input.status === undefined ? null : input.status === 'draft' ? draftStatuses : completedStatuses;
	const filters = [input.study ?? null, statuses, input.before ?? null, input.limit, input.category || null, input.images ?? false];
	const siteIds = await visibleSiteIds(context);
	const rows = input.text
		? await context.database.rows<Row>(searchReportRows, [siteIds, ...filters, ...(await numbersBegun(context, siteIds, input.text))])
		: await context.database.rows<Row>(listReportRows, [siteIds, ...filters]);
	return rows.map(record);
}

/** Returns patients, each with its site, and numbers of reports that begin with a text, as `searchReportRows` takes them. */
async function numbersBegun(context: OperationContext, siteIds: readonly string[] | null, text: string): Promise<string[][]> {
	const field = 'text';
	const patients = await patientsAlike(context, siteIds, { text, field });
	return [
		patients.map(({ site_id: id }) => id),
		patients.map(({ patient_id: id }) => id),
		await numbersAlike(context, siteIds, { kind: 'reportAccession', text, field }),
		await numbersAlike(context, siteIds, { kind: 'reportFiller', text, field }),
	];
}

export const wholeReport = reportRecord.extend({
	text: z.string().nullable(),
	conclusion: z.string().nullable(),
	results: z
		.array(
			z.strictObject({
				id: z.string().describe('id of the Observation'),
				name: z.string(),
				value: z.string(),
				...measuredFacts,
				status: z.string().describe('Observation.status'),
			}),
		)
		.describe('the observations of the report, at most 500'),
	attachments: z.array(z.strictObject({ content_type: z.string().nullable(), bytes: z.int() })).describe('attachments other than the text'),
	history: z.array(
		z.strictObject({
			version: z.int(),
			fhir_status: z.string(),
			updated_at: instant,
			by: z.string().nullable().describe('who wrote the version by hand'),
			source: z.string().nullable().describe('meta.source'),
			text: z.string().nullable(),
		}),
	),
});

type FoundRow = Row & { site_id: string; row_id: string };

export async function reportRow(context: OperationContext, id: string): Promise<FoundRow> {
	const sites = await visibleSiteIds(context);
	const rows = isFhirId(id) ? await context.database.rows<FoundRow>(showReportRow, [sites, rowIdOf(id)]) : [];
	const [row, another] = rows;
	if (row === undefined) throw new AdministrationError(`there is no report '${id}'`, 'not-found');
	if (another !== undefined) throw new AdministrationError(`several sites have a report '${id}'; name the site`, 'refused', 'site');
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

/** Shows one report with its text and all of its versions. */
export async function showReport(context: OperationContext, row: FoundRow): Promise<z.infer<typeof wholeReport>> {
	const resource = JSON.parse(row.resource) as JsonObject;
	const patient = referencedId(resource['subject'], 'Patient');
	await note(context, { action: 'report.read', subject: row.id, siteId: row.site_id, patients: [patient && rowIdOf(patient)] });
	const versions = await context.database.rows<VersionRow>(listReportVersions, [row.site_id, row.row_id]);
	const editors = await editorsOf(context, row, versions);
	return {
		...record(row),
		text: textOf(resource),
		results: await resultsOf(context, row.site_id, resource),
		conclusion: (resource['conclusion'] as string | undefined) ?? null,
		attachments: formsOf(resource)
			.filter((form) => !isText(form))
			.map(({ contentType, data }) => ({ content_type: contentType ?? null, bytes: Buffer.byteLength(data ?? '', 'base64') })),
		history: versions.map(({ version, last_updated, source, resource: stored }) => {
			const then = JSON.parse(stored) as JsonObject;
			const by = editors.get(version) ?? null;
			return { version, fhir_status: String(then['status']), updated_at: last_updated.toISOString(), by, source, text: textOf(then) };
		}),
	};
}

type VersionRow = Pick<Row, 'version' | 'last_updated' | 'resource'> & { source: string | null };

/** An edit and its event of the audit trail are written together, and ids begin with their time. */
const editLagMs = 60_000;

async function editorsOf(
	context: OperationContext,
	{ site_id: siteId, id }: FoundRow,
	versions: readonly VersionRow[],
): Promise<Map<number, string>> {
	const times = versions
		.filter(({ source }) => source?.startsWith('urn:tributary:administration') === true)
		.map(({ last_updated: at }) => at.getTime());
	if (times.length === 0) return new Map();
	const ends = [-editLagMs, editLagMs].map((lag) => times.map((at) => firstIdOf(at + lag)));
	const rows = await context.database.rows<{ version: number; actor: string }>(listReportEditors, [siteId, id, ...ends]);
	return new Map(rows.map(({ version, actor }) => [version, actor]));
}

/** A page is for people; FHIR answers all of them. */
const resultsMax = 500;

async function resultsOf(context: OperationContext, siteId: string, report: JsonObject): Promise<z.infer<typeof wholeReport>['results']> {
	const ids = ((report['result'] ?? []) as JsonObject[])
		.map((reference) => referencedRow(reference, 'Observation'))
		.filter((id) => id !== null);
	if (ids.length === 0) return [];
	const rows = await context.database.rows<{ id: string; resource: string }>(listReportResults, [siteId, ids.slice(0, resultsMax)]);
	return rows.map(({ id, resource }) => {
		const observation = parseExact(resource);
		return {
			id,
			name: conceptText(observation['code']),
			...resultOf(observation),
			status: String(observation['status'] ?? ''),
		};
	});
}

function resultOf(observation: JsonObject) {
	const { value, digits, comparator, unit, low, high, range, interpretation, flag, derived } = measured(observation, observation);
	return { value, digits, comparator, unit, low, high, range, interpretation, flag, derived };
}

/** Writes through the ordinary write path, so that the site's order holds. */
async function write(context: OperationContext, siteId: string, edit: ReportEdit): Promise<string> {
	const nowMs = context.nowMs();
	const { answer } = await context.deliver({
		kind: 'report',
		id: newId(nowMs),
		siteId,
		clientId: nilId,
		surface: 'administration',
		source: context.source || context.actor.name,
		receivedAtMs: nowMs,
		settings: noSettings,
		bytes: Buffer.from(JSON.stringify(edit)),
	});
	if (answer.kind === 'refused') throw new AdministrationError(answer.diagnostics);
	return answer.id;
}

/** Adds a report on a study of the site. The study's patient becomes the patient of the report. */
export async function addReport(context: OperationContext, input: z.infer<typeof addReportInput>): Promise<ReportRecord> {
	const { site: slug, study, ...rest } = input;
	const site = await siteBySlug(context.em.fork(), slug);
	const id = await write(context, site.id, {
		...stated(rest),
		operation: 'add',
		studyUid: study,
		status: input.status,
		actor: context.actor.name,
		source: context.source,
	});
	return record(await reportRow({ ...context, visibleSites: [slug] }, id));
}

export async function completeReport(context: OperationContext, id: string, found?: FoundRow): Promise<ReportRecord> {
	return changed(context, found ?? (await reportRow(context, id)), (rowId) => ({
		operation: 'complete',
		id: rowId,
		actor: context.actor.name,
		source: context.source,
	}));
}

/** Writes a new version, which amends a completed report. The previous conclusion and document are dropped with the previous text. */
export async function amendReport(
	context: OperationContext,
	{ id, ...rest }: Omit<z.infer<typeof amendReportInput>, 'site'>,
	found?: FoundRow,
): Promise<ReportRecord> {
	return changed(context, found ?? (await reportRow(context, id)), (rowId) => ({
		...stated(rest),
		operation: 'amend',
		id: rowId,
		actor: context.actor.name,
		source: context.source,
	}));
}

async function changed(
	context: OperationContext,
	{ site_id: siteId, site, id: known }: FoundRow,
	edit: (id: string) => ReportEdit,
): Promise<ReportRecord> {
	await write(context, siteId, edit(known));
	return record(await reportRow({ ...context, visibleSites: [site] }, known));
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
