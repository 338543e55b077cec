import { z } from 'zod';
import { asObjects, asText } from '#fhir/elements.ts';
import { personName, referencedId } from '#fhir/summaries.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { Clause } from '#record/search-plan.ts';
import { studyOrigin } from '#storage/statements/administrative/study-edits.ts';
import { numbersAlike } from './alike.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { patientsBegun } from './named-patient.ts';
import { imagingOf, studyFacts } from './patient-chart.ts';
import { time } from './schemas.ts';
import { escaped, type RecordedResource, SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';

/** The orders in which studies are listed; each has an index of the site's studies. */
const sortKeys = { newest: '-started', oldest: 'started', changed: '-_lastUpdated' } as const;
const studySorts = ['newest', 'oldest', 'changed'] as const satisfies readonly (keyof typeof sortKeys)[];

export const searchStudiesInput = z.strictObject({
	site: z.string(),
	text: z
		.string()
		.trim()
		.max(200)
		.default('')
		.describe(
			'the beginning of an accession number or of the UID of a study, in any case, or the UID of a series or instance; without it, the newest studies',
		),
	patient: z
		.string()
		.trim()
		.max(200)
		.optional()
		.describe('the id of a patient, or the beginning of one of the numbers of a patient, in any case'),
	modality: z.string().trim().max(16).optional(),
	started: z.iso.date().optional().describe('the day of the study'),
	since: time.optional().describe('studies that began then or later'),
	until: time.optional().describe('studies that began before'),
	sort: z.enum(studySorts).default('newest').describe('by when the studies began, or by when they last changed'),
	limit: z.coerce.number().int().min(1).max(200).default(50),
});

const head = {
	id: z.string(),
	...studyFacts,
	patient: z.string().nullable().describe('id of the patient'),
	patient_name: z.string(),
};
export const studyRecord = z.strictObject(head);

export const wholeStudy = z.strictObject({
	...head,
	time_zone: z.string().nullable().describe('the zone by which the time of the study was read; null if its images state their offset'),
	time_zone_assumed: z.boolean().describe('that is the zone of the host: neither the sender nor its site had a time_zone'),
	split_from: z.string().nullable().describe('the Study Instance UID that its images state, if they were split off from that study'),
	stated_patient: z
		.strictObject({
			id: z.string().nullable().describe('the Patient ID'),
			name: z.string().describe('its alphabetic component group, as DICOM writes it'),
			birth_date: z.iso.date().nullable(),
			gender: z.string().nullable(),
		})
		.nullable()
		.describe('the person whom its images state, while the study has no patient'),
	has_viewer: z.boolean().describe('the site has an image viewer, which `study viewer` opens'),
	series_list: z.array(
		z.strictObject({
			series_uid: z.string(),
			number: z.number().int().nullable(),
			modality: z.string(),
			description: z.string(),
			body_part: z.string(),
			started: z.string().nullable(),
			instances: z.number().int(),
			instance_list: z
				.array(z.strictObject({ sop_instance_uid: z.string(), sop_class_uid: z.string(), number: z.number().int().nullable() }))
				.describe('the first hundred series'),
		}),
	),
});

export const showStudyInput = z.strictObject({
	site: z.string(),
	id: z.string().describe('id of the ImagingStudy, or its Study Instance UID'),
});

/** The names of patients of a site by id. */
export async function patientNames(record: SiteRecord, named: readonly string[]): Promise<ReadonlyMap<string, string>> {
	const ids = [...new Set(named)];
	const { found } = ids.length === 0 ? { found: [] } : await record.search('Patient', [['_id', ids.join(',')]], { count: ids.length });
	return new Map(found.map(({ id, resource }) => [id, personName(resource['name'])]));
}

async function withPatients(record: SiteRecord, studies: readonly RecordedResource[]): Promise<z.output<typeof studyRecord>[]> {
	const names = await patientNames(
		record,
		studies.flatMap(({ resource }) => referencedId(resource['subject'], 'Patient') ?? []),
	);
	return studies.map((study) => {
		const patient = referencedId(study.resource['subject'], 'Patient');
		return { id: study.id, ...imagingOf(study.resource), patient, patient_name: (patient && names.get(patient)) ?? '' };
	});
}

/** The studies whose images are here, without those that FHIR clients wrote. */
const rendered: readonly Clause[] = [{ kind: 'present', column: 'rendered_uid' }];

const isUid = /^[0-9]+(?:\.[0-9]+)+$/;

/** Lists studies of a site. Those that an id or a number finds are few, and come newest change first. */
export async function searchStudies(
	context: OperationContext,
	input: z.output<typeof searchStudiesInput>,
): Promise<z.output<typeof studyRecord>[]> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const record = new SiteRecord(context, siteId);
	const narrowed: [string, string][] = [['_summary', 'true']];
	if (input.modality !== undefined && input.modality !== '') narrowed.push(['modality', escaped(input.modality)]);
	if (input.started !== undefined) narrowed.push(['started', input.started]);
	if (input.since !== undefined) narrowed.push(['started', `ge${input.since}`]);
	if (input.until !== undefined) narrowed.push(['started', `lt${input.until}`]);
	if (input.patient !== undefined && input.patient !== '') {
		const patients = await patientsBegun(context, record, { siteId, text: input.patient });
		if (patients.length === 0) return [];
		narrowed.push(['patient', patients.map(escaped).join(',')]);
	}
	const sort: [string, string] = ['_sort', input.text === '' ? sortKeys[input.sort] : sortKeys.changed];
	for (const finder of findersOf(input.text)) {
		const { by, further } = await finder(context, siteId);
		const { found } = await record.search('ImagingStudy', [...by, ...narrowed, sort], {
			count: input.limit,
			further: [...rendered, ...further],
		});
		if (found.length > 0) return withPatients(record, found);
	}
	return [];
}

/** Says what finds studies, as parameters of a search and as further clauses of it. */
type Finder = (context: OperationContext, siteId: string) => Promise<{ by: [string, string][]; further: Clause[] }>;

function findersOf(text: string): Finder[] {
	const all: Finder = async () => ({ by: [], further: [] });
	if (text === '') return [all];
	const byPart =
		(parameter: string): Finder =>
		async () => ({ by: [[parameter, text]], further: [] });
	const byBeginning =
		(kind: 'study' | 'accession', column: string): Finder =>
		async (context, siteId) => ({
			by: [],
			further: [{ kind: 'code', column, values: await numbersAlike(context, [siteId], { kind, text, field: 'text' }) }],
		});
	const [byStudy, byAccession] = [byBeginning('study', 'study_uid'), byBeginning('accession', 'accession_number')];
	if (isUid.test(text)) return [byStudy, byPart('series'), byPart('instance'), byAccession];
	return /^[0-9]+\.?$/.test(text) ? [byAccession, byStudy] : [byAccession];
}

async function byUid(record: SiteRecord, uid: string): Promise<RecordedResource | undefined> {
	const { found } = await record.search('ImagingStudy', [['identifier', `urn:dicom:uid|urn:oid:${uid}`]], { count: 1, further: rendered });
	return found[0];
}

/** As many instances of a series as the screen lists; DICOMweb lists all of them. */
const instancesMax = 100;

/** Shows one study with its series. The audit trail records that it was viewed. */
export async function showStudy(context: OperationContext, input: z.output<typeof showStudyInput>): Promise<z.output<typeof wholeStudy>> {
	const { id: siteId, settings } = await siteBySlug(context.em.fork(), input.site);
	const record = new SiteRecord(context, siteId);
	const found = isUid.test(input.id) ? await byUid(record, input.id) : await record.one('ImagingStudy', input.id);
	if (found === undefined) throw new AdministrationError(`there is no study '${input.id}'`, 'not-found', 'id');
	const [shown] = await withPatients(record, [found]);
	if (shown === undefined) throw new Error('a study was not shown');
	const patients = [shown.patient && rowIdOf(shown.patient)];
	await note(context, { action: 'study.read', subject: found.id, siteId, patients, studies: [shown.study_uid] });
	const [origin] = await context.database.rows<OriginRow>(studyOrigin, [siteId, shown.study_uid]);
	return {
		...shown,
		time_zone: origin?.started_zone ?? null,
		time_zone_assumed: origin?.is_assumed ?? false,
		split_from: origin?.split_from ?? null,
		stated_patient: origin?.stated_patient ?? null,
		has_viewer: settings.viewer_url !== undefined,
		series_list: asObjects(found.resource['series']).map(seriesOf),
	};
}

interface OriginRow {
	started_zone: string | null;
	is_assumed: boolean;
	split_from: string | null;
	stated_patient: z.output<typeof wholeStudy>['stated_patient'];
}

function seriesOf(series: RecordedResource['resource']) {
	const code = (name: string) => series[name] as { code?: string; display?: string } | undefined;
	return {
		series_uid: asText(series['uid']) ?? '',
		number: typeof series['number'] === 'number' ? series['number'] : null,
		modality: code('modality')?.code ?? '',
		description: asText(series['description']) ?? '',
		body_part: code('bodySite')?.display ?? code('bodySite')?.code ?? '',
		started: asText(series['started']) ?? null,
		instances: Number(series['numberOfInstances'] ?? 0),
		instance_list: asObjects(series['instance'])
			.slice(0, instancesMax)
			.map((instance) => ({
				sop_instance_uid: asText(instance['uid']) ?? '',
				sop_class_uid: ((instance['sopClass'] as { code?: string } | undefined)?.code ?? '').replace(/^urn:oid:/, ''),
				number: typeof instance['number'] === 'number' ? instance['number'] : null,
			})),
	};
}
