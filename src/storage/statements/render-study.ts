import type { Extent } from '#record/search-plan.ts';
import { wholeText } from './stored-text.ts';

/** The columns of `imaging_study_resource` that a study is rendered from. */
export const studyColumns =
	'r.patient_id, r.study_uid, r.started, r.started_offset, r.accession_number, r.accession_system, r.description, r.referring_physician, r.modalities, r.series_count, r.instance_count, r.resource';

/** The same columns for earlier versions, which only written studies have. */
export const noStudyColumns =
	'null::uuid as patient_id, null::text as study_uid, null::text as started, null::text as started_offset, null::text as accession_number, null::text as accession_system, null::text as description, null::text as referring_physician, null::text[] as modalities, 0 as series_count, 0 as instance_count, r.resource';

/** Estimates the length of a study's text for the bound of a page, without rendering it. */
export function studyBytes(row: string, extent: Extent): string {
	return `coalesce(octet_length(${wholeText(`${row}.resource`)}), ${renderedBytes(row, extent)})`;
}

function renderedBytes(row: string, extent: Extent): string {
	const head = `900 + coalesce(octet_length(${row}.description), 0)`;
	if (extent === 'head') return `(${head})`;
	const outline = `${head} + ${row}.series_count * 500`;
	return extent === 'outline' ? `(${outline})` : `(${outline} + ${row}.instance_count * 230)`;
}

const dcm = (code: string) => `json_build_object('system', 'http://dicom.nema.org/resources/ontology/DCM', 'code', ${code})`;
const absent = `json_build_object('extension', json_build_array(json_build_object(
	'url', 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', 'valueCode', 'unknown')))`;
/** A code has single spaces (FHIR R4 §2.24.0.1). */
const code = (text: string) => `regexp_replace(${text}, '\\s+', ' ', 'g')`;
/** A FHIR time needs an offset (FHIR R4 §2.24.0.1). Where the index has none, only the day is sure. */
export const dateTime = (text: string, offset: string) =>
	`case when ${text} like '%T%' and ${offset} is null then left(${text}, 10) when ${text} like '%T%' then ${text} || ${offset} else ${text} end`;
/** Returns an unsignedInt; DICOM's numbers may be negative. */
const count = (number: string) => `case when ${number} >= 0 then ${number} end`;
/** Writes `family^given^middle^prefix^suffix`, the first group that is not empty, in the order in which it is spoken. */
const spoken = (name: string) =>
	`nullif(concat_ws(' ', ${[4, 2, 3, 1, 5].map((part) => `nullif(split_part(split_part(ltrim(${name}, '='), '=', 1), '^', ${part}), '')`).join(', ')}), '')`;

const identifiers = `case when r.accession_number is null then json_build_array(u.uid) else json_build_array(u.uid, json_build_object(
		'type', json_build_object('coding', json_build_array(json_build_object(
			'system', 'http://terminology.hl7.org/CodeSystem/v2-0203', 'code', 'ACSN'))),
		'system', r.accession_system, 'value', r.accession_number)) end`;

const subject = `coalesce((select json_build_object('reference', 'Patient/' || coalesce(p.given_id, p.id::text))
		from patient p where p.site_id = r.site_id and p.id = r.patient_id), ${absent})`;

const instances = `(select json_agg(json_build_object(
			'uid', i.sop_instance_uid,
			'sopClass', json_build_object('system', 'urn:ietf:rfc:3986', 'code', 'urn:oid:' || i.sop_class_uid),
			'number', ${count('i.number')}) order by i.number, i.sop_instance_uid)
		from imaging_instance i where i.site_id = r.site_id and i.study_uid = r.study_uid and i.series_uid = s.series_uid)`;

const seriesOf = (extent: Extent) => `(select json_agg(json_build_object(
		'uid', s.series_uid,
		'number', ${count('s.number')},
		'modality', case when s.modality is null then ${absent} else ${dcm(code('s.modality'))} end,
		'description', s.description,
		'numberOfInstances', s.instance_count,
		'bodySite', case when s.body_part is not null then json_build_object('display', s.body_part) end,
		'started', ${dateTime('s.started', 's.started_offset')},
		'performer', case when s.station is not null then json_build_array(json_build_object(
			'actor', json_build_object('type', 'Device', 'display', s.station))) end${extent === 'whole' ? `,\n\t\t'instance', ${instances}` : ''})
		order by s.number, s.series_uid)
	from imaging_series s where s.site_id = r.site_id and s.study_uid = r.study_uid)`;

/**
 * Returns the text of the ImagingStudy of row `r` of `imaging_study_resource`, without resourceType, id and meta: the one that a client wrote,
 * or one that is rendered with one lookup by key for its series and one for the instances of each.
 */
export function studyText(extent: Extent): string {
	const series = extent === 'head' ? '' : `,\n\t'series', ${seriesOf(extent)}`;
	return `coalesce(${wholeText('r.resource')}, (select json_strip_nulls(json_build_object(
	'identifier', ${identifiers},
	'status', 'available',
	'modality', (select json_agg(${dcm(code('m'))}) from unnest(r.modalities) m),
	'subject', ${subject},
	'started', ${dateTime('r.started', 'r.started_offset')},
	'referrer', (select json_build_object('display', d.name) from (select ${spoken('r.referring_physician')}) d (name) where d.name is not null),
	'numberOfSeries', r.series_count,
	'numberOfInstances', r.instance_count,
	'description', r.description${series}))::text
from (select json_build_object('system', 'urn:dicom:uid', 'value', 'urn:oid:' || r.study_uid)) u (uid)))`;
}
