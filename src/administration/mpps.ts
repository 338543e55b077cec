import { z } from 'zod';
import { isUuid } from '#core/id.ts';
import { parseExact } from '#core/json.ts';
import { indexText } from '#record/index-text.ts';
import { stepStatuses } from '#record/procedure-step.ts';
import { listReports, listSessions, showSession } from '#storage/statements/administrative/read-sessions.ts';
import { numbersAlike } from './alike.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { instant, ofSite, page } from './schemas.ts';
import { visibleSiteIds } from './visible-sites.ts';

const status = z
	.string()
	.transform((text) => text.toUpperCase().replaceAll(/[_-]/g, ' '))
	.pipe(z.enum(stepStatuses));

const beginning = z.string().trim().transform(indexText);

export const listMppsInput = z.strictObject({
	...ofSite,
	status: status.optional(),
	study: z.string().optional(),
	patient: beginning.optional().describe('the beginning of the identifier that the modality states for the patient, in any case'),
	accession: beginning.optional().describe('the beginning of the accession number, in any case'),
	...page(50),
});
export const showMppsInput = z.strictObject({ id: z.string(), ...ofSite });

export const mppsRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	sop_instance_uid: z.string(),
	study_uid: z.string(),
	other_study_uids: z.array(z.string()).describe('further studies of a group case, whose scheduled steps were performed as one'),
	status: z.string(),
	late: z.boolean().describe('the first procedure step report was already final'),
	patient_id: z.string().nullable(),
	patient_name: z.string().nullable(),
	accession_number: z.string().nullable(),
	modality: z.string().nullable(),
	station_ae: z.string().nullable(),
	station_name: z.string().nullable(),
	step_id: z.string().nullable(),
	started: z.string().nullable(),
	ended: z.string().nullable(),
	reports: z.int().describe('number of procedure step reports accepted'),
	created_at: instant,
	updated_at: instant,
	patient_record_id: z.string().nullable().describe('id of the Patient of the study; null until an image of it is stored'),
	imaging_study_id: z.string().nullable().describe('id of the ImagingStudy; null until an image of the study is stored'),
	study_series: z.int().nullable().describe('number of stored series of the study'),
	study_instances: z.int().nullable(),
});
type MppsRecord = z.infer<typeof mppsRecord>;

type Row<T extends { created_at: string; updated_at: string }> = Omit<T, 'created_at' | 'updated_at'> & {
	created_at: Date;
	updated_at: Date;
};

/** Lists procedure steps, newest first. */
export async function listMpps(context: OperationContext, input: Omit<z.infer<typeof listMppsInput>, 'site'>): Promise<MppsRecord[]> {
	const siteIds = await visibleSiteIds(context);
	const patients = await numbersBegun(context, siteIds, { kind: 'stepPatient', text: input.patient, field: 'patient' });
	const accessions = await numbersBegun(context, siteIds, { kind: 'stepAccession', text: input.accession, field: 'accession' });
	if (patients?.length === 0 || accessions?.length === 0) return [];
	const values = [siteIds, input.status ?? null, input.study ?? null, patients, accessions, input.before ?? null, input.limit];
	const rows = await context.database.rows<Row<MppsRecord>>(listSessions, values);
	return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() }));
}

/** The numbers of a kind that a list is narrowed to; null if it is not. */
async function numbersBegun(
	context: OperationContext,
	siteIds: readonly string[] | null,
	{ kind, text, field }: { kind: 'stepPatient' | 'stepAccession'; text: string | undefined; field: string },
): Promise<string[] | null> {
	return text ? numbersAlike(context, siteIds, { kind, text, field }) : null;
}

const attributes = z.record(z.string(), z.unknown());
export const wholeMpps = mppsRecord.extend({
	patient_issuer: z.string().nullable(),
	series_uids: z.array(z.string()),
	missing_series_uids: z.array(z.string()).describe('series without a stored image'),
	attributes: attributes.describe('the attributes of all reports; later values replace earlier ones'),
	history: z.array(
		z.strictObject({
			number: z.int(),
			message_id: z.uuid().describe('id of the message in the log'),
			recorded_at: instant,
			source: z.string(),
			status: z.string(),
			attributes,
		}),
	),
});
type WholeMpps = z.infer<typeof wholeMpps>;

type WholeRow = Row<Omit<WholeMpps, 'attributes' | 'history'>> & { site_id: string; attributes: string };
type ReportRow = Omit<WholeMpps['history'][number], 'recorded_at' | 'attributes'> & { recorded_at: Date; attributes: string };

/** Finds a procedure step by its id or by its SOP Instance UID. */
export async function mppsRow(context: OperationContext, id: string): Promise<WholeRow> {
	const values = [await visibleSiteIds(context), isUuid(id) ? id : null, id];
	const [found, another] = await context.database.rows<WholeRow>(showSession, values);
	if (found === undefined) throw new AdministrationError(`there is no procedure step '${id}'`, 'not-found');
	if (another !== undefined) throw new AdministrationError(`several sites have a procedure step '${id}'; name the site`, 'refused', 'site');
	return found;
}

/** Shows one procedure step with its history. */
export async function showMpps(context: OperationContext, { site_id, ...row }: WholeRow): Promise<WholeMpps> {
	await note(context, { action: 'mpps.read', subject: row.id, siteId: site_id, studies: [row.study_uid] });
	const reports = await context.database.rows<ReportRow>(listReports, [site_id, row.id]);
	return {
		...row,
		created_at: row.created_at.toISOString(),
		updated_at: row.updated_at.toISOString(),
		attributes: parseExact(row.attributes),
		history: reports.map((report) => ({
			...report,
			recorded_at: report.recorded_at.toISOString(),
			attributes: parseExact(report.attributes),
		})),
	};
}
