import { procedureSteps } from '#record/holdings/procedure-steps.ts';
import type { ProcedureStep, StepFacts, StepReport, StepStatus } from '#record/procedure-step.ts';
import type { Cell } from '../cell.ts';
import { columnsOf, textAt } from '../columns.ts';
import { packTexts, plainArray, type Statement, textArray, textLiteral } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

const { list, at } = columnsOf({
	s: [
		'site_id',
		'id',
		'sop_instance_uid',
		'study_uid',
		'status',
		'attributes',
		'late',
		'reports',
		'last_digest',
		'last_message_id',
		'updated_at',
	],
});

/** Procedure steps by SOP Instance UID, for the reports about them. */
export const findProcedureSteps: Statement = {
	name: 'find_procedure_steps',
	text: `
select ${list}
from unnest($1::uuid[], $2::text[]) as k (site_id, sop_instance_uid)
join mpps_session s on s.site_id = k.site_id and s.sop_instance_uid = k.sop_instance_uid`,
};

function stepOf(cells: readonly Cell[]): ProcedureStep {
	return {
		id: textAt(cells, at.id),
		sopInstanceUid: textAt(cells, at.sop_instance_uid),
		studyUid: textAt(cells, at.study_uid),
		status: textAt(cells, at.status) as StepStatus,
		attributes: textAt(cells, at.attributes),
		late: cells[at.late] === 't',
		reports: Number(cells[at.reports]),
		lastDigest: textAt(cells, at.last_digest),
		lastMessageId: textAt(cells, at.last_message_id),
		updatedAt: textAt(cells, at.updated_at),
	};
}

/** Writes procedure steps in the state of their last report. The site's turn is taken, so nobody else writes the same one. */
const upsertProcedureSteps: Statement = {
	name: 'upsert_procedure_steps',
	text: `
insert into mpps_session (site_id, id, sop_instance_uid, study_uid, status, late, attributes, patient_id, patient_issuer, patient_name,
	accession_number, modality, station_ae, station_name, step_id, started, ended, series_uids, reports, last_digest, last_message_id,
	created_at, updated_at, other_study_uids)
select k.site_id, k.id, k.sop_instance_uid, k.study_uid, k.status, k.late, convert_from(substring($9::bytea from k.start for k.length), 'UTF8'),
	k.patient_id, k.patient_issuer, k.patient_name, k.accession_number, k.modality, k.station_ae, k.station_name, k.step_id, k.started,
	k.ended, k.series_uids::text[], k.reports, k.last_digest, k.last_message_id, k.updated_at, k.updated_at,
	nullif(k.other_study_uids::text[], '{}')
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::integer[], $8::integer[], $10::text[],
	$11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[],
	$21::integer[], $22::text[], $23::uuid[], $24::timestamptz[], $25::text[])
	as k (site_id, id, sop_instance_uid, study_uid, status, late, start, length, patient_id, patient_issuer, patient_name, accession_number,
		modality, station_ae, station_name, step_id, started, ended, series_uids, reports, last_digest, last_message_id, updated_at,
		other_study_uids)
on conflict (site_id, sop_instance_uid) do update set
	study_uid = excluded.study_uid, status = excluded.status, attributes = excluded.attributes, patient_id = excluded.patient_id,
	patient_issuer = excluded.patient_issuer, patient_name = excluded.patient_name, accession_number = excluded.accession_number,
	modality = excluded.modality, station_ae = excluded.station_ae, station_name = excluded.station_name, step_id = excluded.step_id,
	started = excluded.started, ended = excluded.ended, series_uids = excluded.series_uids, reports = excluded.reports,
	last_digest = excluded.last_digest, last_message_id = excluded.last_message_id, updated_at = excluded.updated_at,
	other_study_uids = excluded.other_study_uids`,
};

function stepParameters(rows: readonly { siteId: string; step: ProcedureStep }[]): unknown[] {
	const packed = packTexts(rows.map(({ step }) => step.attributes));
	const text = (of: (step: ProcedureStep) => string) => textArray(rows.map(({ step }) => of(step)));
	const plain = (of: (step: ProcedureStep) => string | number | boolean) => plainArray(rows.map(({ step }) => of(step)));
	const fact = (name: Exclude<keyof StepFacts, 'seriesUids' | 'studyUids'>) =>
		textArray(rows.map(({ step }) => step.facts?.[name] ?? null));
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
		text(({ facts }) => textLiteral(facts?.seriesUids ?? [])),
		plain(({ reports }) => reports),
		text(({ lastDigest }) => lastDigest),
		plain(({ lastMessageId }) => lastMessageId),
		text(({ updatedAt }) => updatedAt),
		text(({ studyUid, facts }) => textLiteral((facts?.studyUids ?? []).filter((uid) => uid !== studyUid))),
	];
}

const insertStepReports: Statement = {
	name: 'insert_step_reports',
	text: `
insert into mpps_event (site_id, session_id, number, message_id, recorded_at, source, status, attributes)
select k.site_id, k.session_id, k.number, k.message_id, k.recorded_at, k.source, k.status,
	convert_from(substring($10::bytea from k.start for k.length), 'UTF8')
from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[], $8::integer[], $9::integer[])
	as k (site_id, session_id, number, message_id, recorded_at, source, status, start, length)`,
};

function reportParameters(rows: readonly { siteId: string; report: StepReport }[]): unknown[] {
	const packed = packTexts(rows.map(({ report }) => report.attributes));
	const text = (of: (report: StepReport) => string) => textArray(rows.map(({ report }) => of(report)));
	const plain = (of: (report: StepReport) => string | number) => plainArray(rows.map(({ report }) => of(report)));
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		plain(({ procedureStepId }) => procedureStepId),
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

export function storedProcedureSteps(): StoredHolding {
	return {
		async read(reading) {
			for (const cells of await reading.run(
				findProcedureSteps,
				reading.named(procedureSteps, (uids) => uids),
			)) {
				reading.setOf(cells).of(procedureSteps).addStored(stepOf(cells));
			}
		},
		write(writing) {
			const steps = writing.of(procedureSteps, (held, siteId) => held.changed().map((step) => ({ siteId, step })));
			if (steps.length === 0) return;
			writing.send(upsertProcedureSteps, stepParameters(steps));
			const reports = writing.of(procedureSteps, (held, siteId) => held.reports.map((report) => ({ siteId, report })));
			writing.send(insertStepReports, reportParameters(reports));
		},
	};
}
