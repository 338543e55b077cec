import type { MppsFacts, MppsReport, MppsSession } from '#record/mpps.ts';
import { packTexts, plainArray, type Statement, textArray } from '../statement.ts';

/** Procedure steps as their last report left them. The site's turn is taken, so that nobody else writes the same one. */
export const upsertSessions: Statement = {
	name: 'upsert_sessions',
	text: `
insert into mpps_session (site_id, id, sop_instance_uid, study_uid, status, late, attributes, patient_id, patient_issuer, patient_name,
	accession_number, modality, station_ae, station_name, step_id, started, ended, series_uids, reports, last_digest, last_message_id,
	created_at, updated_at)
select k.site_id, k.id, k.sop_instance_uid, k.study_uid, k.status, k.late, convert_from(substring($9::bytea from k.start for k.length), 'UTF8'),
	k.patient_id, k.patient_issuer, k.patient_name, k.accession_number, k.modality, k.station_ae, k.station_name, k.step_id, k.started,
	k.ended, k.series_uids::text[], k.reports, k.last_digest, k.last_message_id, k.updated_at, k.updated_at
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::integer[], $8::integer[], $10::text[],
	$11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[],
	$21::integer[], $22::text[], $23::uuid[], $24::timestamptz[])
	as k (site_id, id, sop_instance_uid, study_uid, status, late, start, length, patient_id, patient_issuer, patient_name, accession_number,
		modality, station_ae, station_name, step_id, started, ended, series_uids, reports, last_digest, last_message_id, updated_at)
on conflict (site_id, sop_instance_uid) do update set
	study_uid = excluded.study_uid, status = excluded.status, attributes = excluded.attributes, patient_id = excluded.patient_id,
	patient_issuer = excluded.patient_issuer, patient_name = excluded.patient_name, accession_number = excluded.accession_number,
	modality = excluded.modality, station_ae = excluded.station_ae, station_name = excluded.station_name, step_id = excluded.step_id,
	started = excluded.started, ended = excluded.ended, series_uids = excluded.series_uids, reports = excluded.reports,
	last_digest = excluded.last_digest, last_message_id = excluded.last_message_id, updated_at = excluded.updated_at`,
};

export function sessionParameters(rows: readonly { siteId: string; session: MppsSession }[]): unknown[] {
	const packed = packTexts(rows.map(({ session }) => session.attributes));
	const text = (of: (session: MppsSession) => string) => textArray(rows.map(({ session }) => of(session)));
	const plain = (of: (session: MppsSession) => string | number | boolean) => plainArray(rows.map(({ session }) => of(session)));
	const fact = (name: Exclude<keyof MppsFacts, 'seriesUids'>) => textArray(rows.map(({ session }) => session.facts?.[name] ?? null));
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		plain(({ id }) => id),
		text(({ sopInstanceUid }) => sopInstanceUid),
		text(({ studyUid }) => studyUid),
		text(({ status }) => status),
		plain(({ late }) => late),
		packed.offsets,
		packed.lengths,
		packed.bytes,
		fact('patientId'),
		fact('patientIssuer'),
		fact('patientName'),
		fact('accessionNumber'),
		fact('modality'),
		fact('stationAe'),
		fact('stationName'),
		fact('stepId'),
		fact('started'),
		fact('ended'),
		text(({ facts }) => textArray(facts?.seriesUids ?? [])),
		plain(({ reports }) => reports),
		text(({ lastDigest }) => lastDigest),
		plain(({ lastMessageId }) => lastMessageId),
		text(({ updatedAt }) => updatedAt),
	];
}

export const insertReports: Statement = {
	name: 'insert_reports',
	text: `
insert into mpps_event (site_id, session_id, number, message_id, recorded_at, source, status, attributes)
select k.site_id, k.session_id, k.number, k.message_id, k.recorded_at, k.source, k.status,
	convert_from(substring($10::bytea from k.start for k.length), 'UTF8')
from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[], $8::integer[], $9::integer[])
	as k (site_id, session_id, number, message_id, recorded_at, source, status, start, length)`,
};

export function reportParameters(rows: readonly { siteId: string; report: MppsReport }[]): unknown[] {
	const packed = packTexts(rows.map(({ report }) => report.attributes));
	const text = (of: (report: MppsReport) => string) => textArray(rows.map(({ report }) => of(report)));
	const plain = (of: (report: MppsReport) => string | number) => plainArray(rows.map(({ report }) => of(report)));
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		plain(({ sessionId }) => sessionId),
		plain(({ number }) => number),
		plain(({ messageId }) => messageId),
		text(({ recordedAt }) => recordedAt),
		text(({ source }) => source),
		text(({ status }) => status),
		packed.offsets,
		packed.lengths,
		packed.bytes,
	];
}
