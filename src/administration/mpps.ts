import { z } from 'zod';
import { isUuid } from '#core/id.ts';
import { type JsonObject, parseExact } from '#core/json.ts';
import { indexText } from '#record/index-text.ts';
import { mppsStatuses } from '#record/mpps.ts';
import { readRows } from '#storage/administrative-reader.ts';
import { Site } from '#storage/entities/index.ts';
import { listReports, listSessions, showSession } from '#storage/statements/administrative/read-sessions.ts';
import { AdministrationError } from './context.ts';
import type { MessageContext } from './messages.ts';

const status = z
	.string()
	.transform((text) => text.toUpperCase().replaceAll(/[_-]/g, ' '))
	.pipe(z.enum(mppsStatuses));

export const listMppsInput = z.strictObject({
	site: z.string().optional(),
	status: status.optional(),
	study: z.string().optional(),
	patient: z.string().transform(indexText).optional(),
	accession: z.string().transform(indexText).optional(),
	before: z.uuid().optional(),
	limit: z.coerce.number().int().min(1).max(1000).default(50),
});

export interface MppsRecord {
	id: string;
	site: string;
	sop_instance_uid: string;
	study_uid: string;
	status: string;
	/** The first report was final already. */
	late: boolean;
	patient_id: string | null;
	patient_name: string | null;
	accession_number: string | null;
	modality: string | null;
	station_ae: string | null;
	station_name: string | null;
	step_id: string | null;
	started: string | null;
	ended: string | null;
	/** How many were accepted. */
	reports: number;
	created_at: string;
	updated_at: string;
	/** Id of the ImagingStudy; null until an image of the study was stored. */
	imaging_study_id: string | null;
	/** How many series and instances of it are stored. */
	study_series: number | null;
	study_instances: number | null;
}

type Row<T extends { created_at: string; updated_at: string }> = Omit<T, 'created_at' | 'updated_at'> & {
	created_at: Date;
	updated_at: Date;
};

async function siteId(context: MessageContext, slug: string | undefined): Promise<string | null> {
	if (slug === undefined) return null;
	const site = await context.em.fork().findOne(Site, { slug });
	if (site === null) throw new AdministrationError(`there is no site '${slug}'`);
	return site.id;
}

/** The procedure steps of a site or of all, newest first. */
export async function listMpps(context: MessageContext, input: z.infer<typeof listMppsInput>): Promise<MppsRecord[]> {
	const filters = [input.status, input.study, input.patient, input.accession, input.before].map((value) => value ?? null);
	const values = [await siteId(context, input.site), ...filters, input.limit];
	const rows = await readRows<Row<MppsRecord>>(context.databaseUrl, listSessions, values);
	return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() }));
}

export interface MppsReportRecord {
	number: number;
	/** In the message log. */
	message_id: string;
	recorded_at: string;
	source: string;
	status: string;
	attributes: JsonObject;
}

export interface WholeMppsRecord extends MppsRecord {
	patient_issuer: string | null;
	series_uids: string[];
	/** Of those, the ones of which no image was stored. */
	missing_series_uids: string[];
	/** What all reports stated, the later over the earlier. */
	attributes: JsonObject;
	history: MppsReportRecord[];
}

type WholeRow = Row<Omit<WholeMppsRecord, 'attributes' | 'history'>> & { site_id: string; attributes: string };
type ReportRow = Omit<MppsReportRecord, 'recorded_at' | 'attributes'> & { recorded_at: Date; attributes: string };

/** One procedure step with its history, by the id of the session or by SOP Instance UID. */
export async function showMpps(context: MessageContext, id: string, site: string | undefined): Promise<WholeMppsRecord> {
	const values = [await siteId(context, site), isUuid(id) ? id : null, id];
	const [found, another] = await readRows<WholeRow>(context.databaseUrl, showSession, values);
	if (found === undefined) throw new AdministrationError(`there is no procedure step '${id}'`);
	if (another !== undefined) throw new AdministrationError(`several sites have a procedure step '${id}': name one with --site`);
	const { site_id, ...row } = found;
	const reports = await readRows<ReportRow>(context.databaseUrl, listReports, [site_id, row.id]);
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
