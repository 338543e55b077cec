import { z } from 'zod';
import type { JsonObject } from '#core/json.ts';
import type { ChartRow } from '#fhir/chart.ts';
import { asObjects, asText } from '#fhir/elements.ts';
import { measured } from '#fhir/measured.ts';
import { type ChartList, resources } from '#fhir/resources/index.ts';
import { conceptText, observedText, referencedId } from '#fhir/summaries.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { origin, originsOf } from './origin.ts';
import { measuredFacts } from './patient-results.ts';
import { linked, patientOf, patientRecord } from './patients.ts';
import { reportState, stateOf } from './reports.ts';
import { type RecordedResource, SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';

const row = { id: z.string(), origin };
const coded = { ...row, at: z.string().nullable(), code: z.string(), text: z.string(), status: z.string() };
const observation = z.strictObject({
	...coded,
	value: z.string(),
	number: z.number().nullable(),
	...measuredFacts,
});
const report = z.strictObject({ ...coded, state: reportState, study: z.string().nullable().describe('id of the ImagingStudy') });
const stated = z.strictObject({ ...coded, detail: z.string() });
/** A study as a list shows it. */
export const studyFacts = {
	study_uid: z.string(),
	started: z.string().nullable(),
	description: z.string(),
	accession_number: z.string(),
	modalities: z.array(z.string()),
	series: z.number().int(),
	instances: z.number().int(),
};

const study = z.strictObject({ ...row, ...studyFacts });

/** The lists of the patient page, in display order. */
const charts = Object.values(resources)
	.flatMap(({ type, chart }) => (chart === undefined ? [] : [{ type, ...chart }]))
	.sort((left, right) => left.position - right.position);

/** Lists whose rows have more columns than a ChartRow. */
const richer = {
	observations: observationRow,
	reports: reportRow,
	studies: imagingOf,
} as const;
type RicherList = keyof typeof richer;
type StatedList = Exclude<ChartList, RicherList>;

const statedCharts = charts.filter(({ list }) => !Object.hasOwn(richer, list));
const statedLists = Object.fromEntries(statedCharts.map(({ list }) => [list, z.array(stated)])) as Record<
	StatedList,
	z.ZodArray<typeof stated>
>;

export const patientChart = z.strictObject({
	patient: patientRecord,
	telecom: z.array(z.string()),
	addresses: z.array(z.string()),
	demographics: z
		.array(z.strictObject({ element: z.string(), value: z.string(), origin }))
		.describe('each value with the latest version that stated it'),
	merged: z.array(patientRecord).describe('patients that were merged into this one'),
	observations: z.array(observation),
	reports: z.array(report),
	studies: z.array(study),
	...statedLists,
	lists: z.array(z.strictObject({ list: z.string(), title: z.string(), noun: z.string() })).describe('the other lists, in display order'),
	cut: z.array(z.string()).describe('lists of which only the first rows are shown'),
});
type PatientChart = z.output<typeof patientChart>;
export type StatedRow = z.output<typeof stated>;

export const showPatientInput = z.strictObject({ site: z.string(), id: z.string() });

/** A page shows this many merges; FHIR answers all of them. */
const mergedMax = 20;
/** This many versions are searched for the origin of a value. A value that all of them have is said to come from the oldest of them. */
const versionsMax = 50;

/** Shows a patient with all of the site's data about them. The audit trail records that it was viewed. */
export async function showPatient(context: OperationContext, input: z.output<typeof showPatientInput>): Promise<PatientChart> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const record = new SiteRecord(context, siteId);
	const found = await record.one('Patient', input.id);
	if (found === undefined) throw new AdministrationError(`there is no patient '${input.id}'`, 'not-found', 'id');
	await note(context, { action: 'patient.read', subject: found.id, siteId, patients: [found.rowId] });
	const count = context.limits.patientRowsMax;
	const [versions, merged, ...lists] = await Promise.all([
		record.versions('Patient', found.id, versionsMax),
		Promise.all(
			linked(found.resource, 'replaces')
				.slice(0, mergedMax)
				.map((id) => record.one('Patient', id)),
		),
		...charts.map(({ type, sort, summary }) => {
			const shown = summary === undefined ? [] : [['_summary', summary] as const];
			return record.search(type, [['patient', `Patient/${found.id}`], ['_sort', sort], ...shown], { count });
		}),
	]);
	const rows = lists.flatMap((list) => list.found);
	const originOf = await originsOf(record, [...versions, ...rows]);
	const listed = (list: string) => {
		const index = charts.findIndex((chart) => chart.list === list);
		const row = charts[index]?.row;
		if (row === undefined) throw new Error(`no resource type has the list '${list}'`);
		return (lists[index]?.found ?? []).map((of) => ({ id: of.id, origin: originOf(of), resource: of.resource, row: row(of.resource) }));
	};
	const rich = <Rich>(list: RicherList, rowOf: (resource: JsonObject, row: ChartRow) => Rich) =>
		listed(list).map(({ id, origin: from, resource, row }) => ({ id, origin: from, ...rowOf(resource, row) }));
	const rowsOf = (list: string): StatedRow[] => listed(list).map(({ id, origin: from, row }) => ({ id, origin: from, ...row }));
	return {
		patient: patientOf(found),
		telecom: asObjects(found.resource['telecom']).map((item) =>
			[asText(item['value']) ?? '', asText(item['use']) ?? ''].filter((part) => part !== '').join(' · '),
		),
		addresses: asObjects(found.resource['address']).map(addressText),
		demographics: demographicsOf(found, versions).map(({ stated: by, ...rest }) => ({ ...rest, origin: originOf(by) })),
		merged: merged.filter((one) => one !== undefined).map(patientOf),
		observations: rich('observations', richer.observations),
		reports: rich('reports', richer.reports),
		studies: rich('studies', richer.studies),
		...(Object.fromEntries(statedCharts.map(({ list }) => [list, rowsOf(list)])) as Record<StatedList, StatedRow[]>),
		lists: statedCharts.map(({ list, title, noun }) => ({ list, title, noun })),
		cut: charts.filter((_chart, index) => lists[index]?.next !== undefined).map(({ list }) => list),
	};
}

function addressText(address: JsonObject): string {
	const whole = asText(address['text']);
	if (whole !== undefined) return whole;
	const lines = Array.isArray(address['line']) ? address['line'].map(String) : [];
	const town = [asText(address['postalCode']), asText(address['city'])].filter((part) => part !== undefined).join(' ');
	const parts = [lines.join(', '), town, asText(address['state']) ?? '', asText(address['country']) ?? ''];
	return parts.filter((part) => part !== '').join(', ');
}

const demographic = [
	'name',
	'birthDate',
	'gender',
	'address',
	'telecom',
	'identifier',
	'maritalStatus',
	'deceasedDateTime',
	'deceasedBoolean',
];

/** Returns each element with the version that gave it its current value. */
function demographicsOf(
	found: RecordedResource,
	versions: readonly RecordedResource[],
): { element: string; value: string; stated: RecordedResource }[] {
	return demographic.flatMap((element) => {
		const value = found.resource[element];
		if (value === undefined) return [];
		const text = JSON.stringify(value);
		let by = versions[0] ?? found;
		for (const version of versions) {
			if (JSON.stringify(version.resource[element]) !== text) break;
			by = version;
		}
		return [{ element, value: demographicText(element, found), stated: by }];
	});
}

function demographicText(element: string, found: RecordedResource): string {
	const { resource } = found;
	const value = resource[element];
	if (element === 'name') return patientOf(found).name;
	if (element === 'address') return asObjects(value).map(addressText).join('; ');
	if (element === 'telecom')
		return asObjects(value)
			.map((item) => asText(item['value']) ?? '')
			.join(', ');
	if (element === 'identifier')
		return asObjects(value)
			.map((item) => asText(item['value']) ?? '')
			.join(', ');
	return element === 'maritalStatus' ? conceptText(value) : String(value);
}

function observationRow(resource: JsonObject, { at, code, text, status }: ChartRow) {
	const components = asObjects(resource['component']).map((part) => `${conceptText(part['code'])} ${observedText(part)}`);
	const { digits, comparator, unit, low, high, range, interpretation, flag, derived } = measured(resource, resource);
	return {
		...{ at, code, text, status },
		value: [observedText(resource), ...components].filter((part) => part !== '').join('; '),
		number: digits === null ? null : Number(digits),
		...{ digits, comparator, unit, low, high, range, interpretation, flag, derived },
	};
}

/** Returns the study of a report. The report may refer to it by UID. */
function reportRow(resource: JsonObject, { at, code, text, status }: ChartRow) {
	const [study = null] = asObjects(resource['imagingStudy']).map((reference) => referencedId(reference, 'ImagingStudy'));
	return { at, code, text, status, state: stateOf(status), study };
}

export function imagingOf(resource: JsonObject) {
	const identifiers = asObjects(resource['identifier']);
	const uid = identifiers.find((identifier) => identifier['system'] === 'urn:dicom:uid');
	return {
		study_uid: (asText(uid?.['value']) ?? '').replace(/^urn:oid:/, ''),
		started: asText(resource['started']) ?? null,
		description: asText(resource['description']) ?? '',
		accession_number: asText(identifiers.find((identifier) => identifier !== uid)?.['value']) ?? '',
		modalities: asObjects(resource['modality']).map((coding) => asText(coding['code']) ?? ''),
		series: Number(resource['numberOfSeries'] ?? 0),
		instances: Number(resource['numberOfInstances'] ?? 0),
	};
}
