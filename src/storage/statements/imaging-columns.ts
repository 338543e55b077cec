import type { ImagingAttribute, QueryLevel } from '#record/imaging-query.ts';
import { type NameRepresentation, representationUrl } from '#record/name-representation.ts';
import { jsonOf } from './stored-text.ts';

/**
 * Maps the attributes of queries to columns: `p` patient, `t` study, `s` series, `i` instance. `n` is the patient's name and `d` the
 * patient's identifier, which are joined when they are asked for.
 */
export interface ImagingColumn {
	/** The value as DICOM writes it; null when there is none. */
	shown: string;
	/** The compared value if it is not `shown`: a text, or an integer for the form `integer`. */
	matched?: string;
	/** The component groups of a name: alphabetic, ideographic, phonetic. */
	groups?: readonly [string, string, string];
	form: 'text' | 'name' | 'date' | 'birth date' | 'time' | 'integer' | 'identifier' | 'issuer' | 'list' | 'none';
}

const dateOf = (column: string) => `replace(left(${column}, 10), '-', '')`;
const timeOf = (column: string) => `nullif(replace(substr(${column}, 12, 8), ':', ''), '')`;
const text = (shown: string): ImagingColumn => ({ shown, form: 'text' });
const integer = (column: string): ImagingColumn => ({ shown: `${column}::text`, matched: column, form: 'integer' });
const date = (column: string): ImagingColumn => ({ shown: dateOf(column), matched: column, form: 'date' });
const time = (column: string): ImagingColumn => ({ shown: timeOf(column), matched: column, form: 'time' });
const shownOnly = (shown: string): ImagingColumn => ({ shown, form: 'none' });

const groupsOf = (name: string) => [1, 2, 3].map((group) => `split_part(${name}, '=', ${group})`) as [string, string, string];

const sexOf = (column: string) =>
	`case ${column} when 'male' then 'M' when 'female' then 'F' when 'other' then 'O' when 'unknown' then 'U' end`;

const ownStudies = 'imaging_study x where x.site_id = $1 and x.patient_id = p.id';

export const imagingColumns: Readonly<Record<ImagingAttribute, ImagingColumn>> = {
	PatientName: { shown: 'n.name', groups: ['n.alphabetic', 'n.ideographic', 'n.phonetic'], form: 'name' },
	PatientID: { shown: 'd.value', form: 'identifier' },
	IssuerOfPatientID: { shown: 'd.system', form: 'issuer' },
	PatientBirthDate: {
		shown: `case when p.birth_date_end = p.birth_date + 1 then to_char(p.birth_date, 'YYYYMMDD') end`,
		matched: 'p.birth_date',
		form: 'birth date',
	},
	PatientSex: text(sexOf('p.gender')),
	NumberOfPatientRelatedStudies: shownOnly(`(select count(*) from ${ownStudies})::text`),
	NumberOfPatientRelatedSeries: shownOnly(`(select coalesce(sum(x.series_count), 0) from ${ownStudies})::text`),
	NumberOfPatientRelatedInstances: shownOnly(`(select coalesce(sum(x.instance_count), 0) from ${ownStudies})::text`),
	StudyInstanceUID: text('t.study_uid'),
	StudyDate: date('t.started'),
	StudyTime: time('t.started'),
	AccessionNumber: text('t.accession_number'),
	ReferringPhysicianName: { shown: 't.referring_physician', groups: groupsOf('t.referring_physician'), form: 'name' },
	StudyDescription: text('t.description'),
	StudyID: text('t.study_id'),
	ModalitiesInStudy: { shown: `array_to_string(t.modalities, '\\')`, matched: 't.modalities', form: 'list' },
	SOPClassesInStudy: { shown: `array_to_string(t.sop_classes, '\\')`, matched: 't.sop_classes', form: 'list' },
	NumberOfStudyRelatedSeries: shownOnly('t.series_count::text'),
	NumberOfStudyRelatedInstances: shownOnly('t.instance_count::text'),
	SeriesInstanceUID: text('s.series_uid'),
	Modality: text('s.modality'),
	SeriesNumber: integer('s.number'),
	SeriesDescription: text('s.description'),
	SeriesDate: date('s.started'),
	SeriesTime: time('s.started'),
	BodyPartExamined: text('s.body_part'),
	StationName: text('s.station'),
	NumberOfSeriesRelatedInstances: shownOnly('s.instance_count::text'),
	SOPInstanceUID: text('i.sop_instance_uid'),
	SOPClassUID: text('i.sop_class_uid'),
	InstanceNumber: integer('i.number'),
	Rows: integer('i.image_rows'),
	Columns: integer('i.image_columns'),
	NumberOfFrames: integer('i.frames'),
	AvailableTransferSyntaxUID: text('i.transfer_syntax_uid'),
};

/** A study without a patient has these in the place of the patient's record: its images state them. */
export const unmatchedColumns: Partial<Readonly<Record<ImagingAttribute, ImagingColumn>>> = {
	PatientName: imagingColumns.PatientName,
	PatientBirthDate: {
		shown: `to_char(t.stated_patient_birth_date, 'YYYYMMDD')`,
		matched: 't.stated_patient_birth_date',
		form: 'birth date',
	},
	PatientSex: text(sexOf('t.stated_patient_gender')),
};

/** The value that an answer of a level shows: of a patient, or of the person whom the images of a study without one name. */
export function shownAt(level: QueryLevel, attribute: ImagingAttribute): string {
	const { shown } = imagingColumns[attribute];
	const stated = level === 'PATIENT' ? undefined : unmatchedColumns[attribute]?.shown;
	return stated === undefined || stated === shown ? shown : `case when t.patient_id is null then ${stated} else ${shown} end`;
}

/** The tables of a level with those above it; a study whose data sets name no patient has none. */
export const levelTables: Readonly<Record<QueryLevel, { from: string; alias: string; where: string; order: readonly string[] }>> = {
	PATIENT: {
		from: 'patient p',
		alias: 'p',
		where: `and exists (select from ${ownStudies})`,
		order: ['p.id'],
	},
	STUDY: {
		from: 'imaging_study t left join patient p on p.site_id = $1 and p.id = t.patient_id',
		alias: 't',
		where: '',
		order: ['t.study_uid'],
	},
	SERIES: {
		from: `imaging_series s join imaging_study t on t.site_id = $1 and t.study_uid = s.study_uid
	left join patient p on p.site_id = $1 and p.id = t.patient_id`,
		alias: 's',
		where: '',
		order: ['s.study_uid', 's.series_uid'],
	},
	IMAGE: {
		from: `imaging_instance i join imaging_series s on s.site_id = $1 and s.study_uid = i.study_uid and s.series_uid = i.series_uid
	join imaging_study t on t.site_id = $1 and t.study_uid = i.study_uid
	left join patient p on p.site_id = $1 and p.id = t.patient_id`,
		alias: 'i',
		where: '',
		order: ['i.study_uid', 'i.series_uid', 'i.sop_instance_uid'],
	},
};

const part = (path: string) => `coalesce(translate(e.name ->> ${path}, '^=\\', '   '), '')`;
const list = (member: string, condition: string) => `coalesce((
			select string_agg(translate(m.v, '^=\\', '   '), ' ' order by m.at)
			from jsonb_array_elements_text(case jsonb_typeof(e.name -> '${member}') when 'array' then e.name -> '${member}' end)
				with ordinality as m (v, at) where ${condition}), '')`;
const isWritten = (code: NameRepresentation) => `e.name @> '{"extension": [{"url": "${representationUrl}", "valueCode": "${code}"}]}'`;

/** Names that the images of a study state count for its patient only while no person has taken the study from another one. */
const ofStudy = (alias: string, column: string) => `case when ${alias}.former_patient_ids is null then ${alias}.${column} end`;
const ofAnyStudy = (column: string) =>
	`(select ${ofStudy('x', column)} from ${ownStudies} and x.${column} is not null order by x.study_uid limit 1)`;

/** The name of one group that the images of a patient state. */
export function statedName(level: QueryLevel, column: 'name_ideographic' | 'name_phonetic'): string {
	return level === 'PATIENT' ? ofAnyStudy(column) : ofStudy('t', column);
}

/** The alphabetic name: that of the record, or the one that the images of a study without a patient state. */
const alphabetic = (level: QueryLevel) =>
	level === 'PATIENT' ? 'g.alphabetic' : `case when t.patient_id is null then nullif(t.stated_patient_name, '') else g.alphabetic end`;

/**
 * Joins the patient's name as PN, and its groups: in each the first name of the record that is written so, else the one that the images state;
 * without empty components at its end. A name that does not say how it is written is alphabetic.
 */
export const nameJoin = (level: QueryLevel): string => `
left join lateral (
	select nullif(rtrim(concat_ws('=', coalesce(s.alphabetic, ''), coalesce(s.ideographic, ''), coalesce(s.phonetic, '')), '='), '') as name,
		s.alphabetic, s.ideographic, s.phonetic
	from (
	select ${alphabetic(level)} as alphabetic, coalesce(g.ideographic, ${statedName(level, 'name_ideographic')}) as ideographic,
		coalesce(g.phonetic, ${statedName(level, 'name_phonetic')}) as phonetic
	from (
		select (array_agg(w.pn order by w.at) filter (where w.written = 0))[1] as alphabetic,
			(array_agg(w.pn order by w.at) filter (where w.written = 1))[1] as ideographic,
			(array_agg(w.pn order by w.at) filter (where w.written = 2))[1] as phonetic
		from (
			select e.at, case when ${isWritten('IDE')} then 1 when ${isWritten('SYL')} then 2 else 0 end as written,
				nullif(rtrim(concat_ws('^', coalesce(nullif(${part("'family'")}, ''), ${part("'text'")}), ${list('given', 'm.at = 1')},
					${list('given', 'm.at > 1')}, ${list('prefix', 'true')}, ${list('suffix', 'true')}), '^'), '') as pn
			from (select ${jsonOf('p.resource')} -> 'name' as names where p.site_id = $1) as h,
				jsonb_array_elements(case jsonb_typeof(h.names) when 'array' then h.names end) with ordinality as e (name, at)
		) as w
	) as g
	) as s
	${level === 'PATIENT' ? 'where p.id is not null' : 'where p.id is not null or t.stated_patient_name is not null'}
) as n on true`;

/** Joins the identifier to show. One that was asked for comes first, one that a merge carried over comes last. */
export function identifierJoin(asked: string): string {
	return `
left join lateral (
	select d.value, d.system from patient_identifier d
	where d.site_id = $1 and d.patient_id = p.id
	order by d.old, ${asked === '' ? '' : `(${asked}) desc, `}d.rank limit 1
) as d on true`;
}
