import type { Replacement, SettledConflict } from '#record/imaging.ts';
import { type ColumnValues, plainArray, type Statement, textArray } from '../statement.ts';
import { readingColumns, type SiteInstance } from './write-imaging.ts';

export interface SiteReplacement {
	siteId: string;
	replacement: Replacement;
}

/** Deletes the rows of UIDs that are inserted again. */
export const deleteInstances: Statement = {
	name: 'delete_instances',
	text: `
delete from imaging_instance i using unnest($1::uuid[], $2::text[]) as k (site_id, sop_instance_uid)
where i.site_id = k.site_id and i.sop_instance_uid = k.sop_instance_uid`,
};

export function replacedParameters(rows: readonly SiteReplacement[]): unknown[] {
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		textArray(rows.map(({ replacement }) => replacement.added.instance.attributes.sopInstanceUid)),
	];
}

/** Counts the contents of studies that lost or got instances, then deletes those that are empty. The order matters. */
export const recounts: readonly Statement[] = [
	{
		name: 'recount_series',
		text: `
update imaging_series s set instance_count = (
	select count(*) from imaging_instance i
	where i.site_id = s.site_id and i.study_uid = s.study_uid and i.series_uid = s.series_uid)
from unnest($1::uuid[], $2::text[]) as k (site_id, study_uid)
where s.site_id = k.site_id and s.study_uid = k.study_uid`,
	},
	{
		name: 'delete_empty_series',
		text: `
delete from imaging_series s using unnest($1::uuid[], $2::text[]) as k (site_id, study_uid)
where s.site_id = k.site_id and s.study_uid = k.study_uid and s.instance_count = 0`,
	},
	{
		name: 'recount_studies',
		text: `
update imaging_study t set (series_count, instance_count) = (
		select count(*), coalesce(sum(s.instance_count), 0) from imaging_series s where s.site_id = t.site_id and s.study_uid = t.study_uid),
	bytes = (select coalesce(sum(i.bytes), 0) from imaging_instance i where i.site_id = t.site_id and i.study_uid = t.study_uid)
from unnest($1::uuid[], $2::text[]) as k (site_id, study_uid)
where t.site_id = k.site_id and t.study_uid = k.study_uid`,
	},
	{
		name: 'delete_empty_studies',
		text: `
delete from imaging_study t using unnest($1::uuid[], $2::text[]) as k (site_id, study_uid)
where t.site_id = k.site_id and t.study_uid = k.study_uid and t.instance_count = 0`,
	},
];

/** Restates the contents of studies whose series were restated. Studies that only lost instances get a new version. */
export const restateContents: Statement = {
	name: 'restate_contents',
	text: `
update imaging_study t set modalities = array(
		select distinct s.modality from imaging_series s
		where s.site_id = t.site_id and s.study_uid = t.study_uid and s.modality is not null
		order by s.modality),
	sop_classes = array(
		select distinct i.sop_class_uid from imaging_instance i
		where i.site_id = t.site_id and i.study_uid = t.study_uid
		order by i.sop_class_uid),
	version = t.version + case when k.is_lessened then 1 else 0 end,
	updated_at = $4::timestamptz
from unnest($1::uuid[], $2::text[], $3::boolean[]) as k (site_id, study_uid, is_lessened)
where t.site_id = k.site_id and t.study_uid = k.study_uid`,
};

/** Returns every study that lost or got an instance; `isLessened` means that it got none. */
export function affectedStudies(
	rows: readonly SiteReplacement[],
	added: readonly SiteInstance[],
): { named: [siteIds: ColumnValues, uids: ColumnValues]; isLessened: ColumnValues } {
	const got = new Set(added.map(({ siteId, added: { instance } }) => `${siteId}/${instance.attributes.studyUid}`));
	const studies = new Map<string, { siteId: string; uid: string }>();
	for (const { siteId, replacement } of rows) {
		for (const uid of [...replacement.studyUids, replacement.added.instance.attributes.studyUid])
			studies.set(`${siteId}/${uid}`, { siteId, uid });
	}
	const each = [...studies.values()];
	return {
		named: [plainArray(each.map(({ siteId }) => siteId)), textArray(each.map(({ uid }) => uid))],
		isLessened: plainArray([...studies.keys()].map((key) => !got.has(key))),
	};
}

/** Takes the new instance's description of its series, if that has the last word or the series has no other instance. */
export const restateSeries: Statement = {
	name: 'restate_series',
	text: `
update imaging_series s set modality = k.modality, number = k.number, description = k.description, body_part = k.body_part,
	station = k.station, started = k.started, started_offset = k.started_offset
from unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[],
	$11::text[])
	as k (site_id, study_uid, series_uid, is_last_word, modality, number, description, body_part, station, started, started_offset)
where s.site_id = k.site_id and s.study_uid = k.study_uid and s.series_uid = k.series_uid and (k.is_last_word or s.instance_count = 1)`,
};

export function restatedSeriesParameters(rows: readonly SiteReplacement[]): unknown[] {
	const last = lastOf(rows, ({ studyUid, seriesUid }) => `${studyUid}/${seriesUid}`);
	const of = textColumn(last);
	return [
		plainArray(last.map(({ siteId }) => siteId)),
		of(({ attributes }) => attributes.studyUid),
		of(({ attributes }) => attributes.seriesUid),
		plainArray(last.map(({ replacement }) => replacement.isLastWord)),
		of(({ attributes }) => attributes.series.modality),
		plainArray(last.map(({ replacement }) => replacement.added.instance.attributes.series.number ?? null)),
		of(({ attributes }) => attributes.series.description),
		of(({ attributes }) => attributes.series.bodyPart),
		of(({ attributes }) => attributes.series.station),
		of(({ attributes }) => attributes.series.started),
		of(({ attributes }) => attributes.series.startedOffset),
	];
}

/** Works like `restateSeries`, and also takes the patient that the instance names. */
export const restateStudies: Statement = {
	name: 'restate_studies',
	text: `
update imaging_study t set patient_id = k.patient_id,
	recorded_patient_id = case when t.patient_id is not distinct from k.patient_id then t.recorded_patient_id end,
	started = k.started, accession_number = k.accession_number, accession_issuer = k.accession_issuer, study_id = k.study_id,
	description = k.description, referring_physician = k.referring_physician, started_offset = k.started_offset,
	started_zone = k.started_zone, assumed_zone = k.assumed_zone, name_ideographic = nullif(k.name_ideographic, ''),
	name_phonetic = nullif(k.name_phonetic, '')
from unnest($1::uuid[], $2::text[], $3::boolean[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
	$11::text[], $12::text[], $13::text[], $14::text[], $15::text[])
	as k (site_id, study_uid, is_last_word, patient_id, started, accession_number, accession_issuer, study_id, description,
		referring_physician, started_offset, started_zone, assumed_zone, name_ideographic, name_phonetic)
where t.site_id = k.site_id and t.study_uid = k.study_uid and (k.is_last_word or t.instance_count = 1)`,
};

export function restatedStudyParameters(rows: readonly SiteReplacement[]): unknown[] {
	const last = lastOf(rows, ({ studyUid }) => studyUid);
	const of = textColumn(last);
	return [
		plainArray(last.map(({ siteId }) => siteId)),
		of(({ attributes }) => attributes.studyUid),
		plainArray(last.map(({ replacement }) => replacement.isLastWord)),
		plainArray(last.map(({ replacement }) => replacement.patientId)),
		of(({ attributes }) => attributes.study.started),
		of(({ attributes }) => attributes.study.accessionNumber),
		of(({ attributes }) => attributes.study.accessionIssuer),
		of(({ attributes }) => attributes.study.studyId),
		of(({ attributes }) => attributes.study.description),
		of(({ attributes }) => attributes.study.referringPhysician),
		of(({ attributes }) => attributes.study.startedOffset),
		...readingColumns(last.map(({ replacement }) => replacement.added)),
	];
}

type Attributes = Replacement['added']['instance']['attributes'];

/** Keeps the last of several rows that state the same series or study. */
function lastOf(rows: readonly SiteReplacement[], keyOf: (attributes: Attributes) => string): SiteReplacement[] {
	return [...new Map(rows.map((row) => [`${row.siteId}/${keyOf(row.replacement.added.instance.attributes)}`, row])).values()];
}

function textColumn(rows: readonly SiteReplacement[]) {
	return (value: (instance: Replacement['added']['instance']) => string | null | undefined) =>
		textArray(rows.map(({ replacement }) => value(replacement.added.instance) ?? null));
}

export const settleConflicts: Statement = {
	name: 'settle_conflicts',
	text: `
update imaging_conflict c set settled_at = k.settled_at, settlement = k.settlement, settled_by = k.settled_by
from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[]) as k (site_id, id, settled_at, settlement, settled_by)
where c.site_id = k.site_id and c.id = k.id`,
};

export function settledParameters(rows: readonly { siteId: string; settled: SettledConflict }[], settledAt: string): unknown[] {
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		plainArray(rows.map(({ settled }) => settled.conflictId)),
		textArray(rows.map(() => settledAt)),
		textArray(rows.map(({ settled }) => settled.as)),
		textArray(rows.map(({ settled }) => settled.by)),
	];
}
