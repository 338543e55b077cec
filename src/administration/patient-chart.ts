import { z } from 'zod';
import type { JsonObject } from '#core/json.ts';
import { asObjects, asText } from '#fhir/elements.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { linked, patientOf, patientRecord } from './patients.ts';
import { type RecordedResource, SiteRecord, versionOf } from './site-record.ts';
import { siteBySlug } from './sites.ts';
import {
	conceptCode,
	conceptText,
	momentOf,
	observedNumber,
	observedText,
	periodText,
	rangeText,
	referencedId,
	referenceText,
} from './summaries.ts';

/** Where a version of a resource came from. */
export const origin = z.strictObject({
	version: z.number().int(),
	at: z.string(),
	source: z.string().nullable().describe('meta.source'),
	message: z.string().nullable().describe('id of the message of the log that wrote it'),
});

const row = { id: z.string(), origin };
const coded = { ...row, at: z.string().nullable(), code: z.string(), text: z.string(), status: z.string() };
const observation = z.strictObject({
	...coded,
	value: z.string(),
	number: z.number().nullable(),
	range: z.string(),
	interpretation: z.string(),
});
const stated = z.strictObject({ ...coded, detail: z.string() });
/** What a list says of a study. */
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

export const patientChart = z.strictObject({
	patient: patientRecord,
	telecom: z.array(z.string()),
	addresses: z.array(z.string()),
	demographics: z
		.array(z.strictObject({ element: z.string(), value: z.string(), origin }))
		.describe('each with the version that stated it last'),
	merged: z.array(patientRecord).describe('patients that were merged into this one'),
	observations: z.array(observation),
	conditions: z.array(stated),
	allergies: z.array(stated),
	procedures: z.array(stated),
	visits: z.array(stated),
	documents: z.array(stated),
	reports: z.array(z.strictObject({ ...coded, study: z.string().nullable().describe('id of the ImagingStudy') })),
	studies: z.array(study),
	cut: z.array(z.string()).describe('lists that are longer than what is shown'),
});
type PatientChart = z.output<typeof patientChart>;

export const showPatientInput = z.strictObject({ site: z.string(), id: z.string() });

interface Section {
	name: 'observations' | 'conditions' | 'allergies' | 'procedures' | 'visits' | 'documents' | 'reports' | 'studies';
	type: ResourceType;
	sort: string;
}

const sections: readonly Section[] = [
	{ name: 'observations', type: 'Observation', sort: '-date' },
	{ name: 'conditions', type: 'Condition', sort: '-_lastUpdated' },
	{ name: 'allergies', type: 'AllergyIntolerance', sort: '-_lastUpdated' },
	{ name: 'procedures', type: 'Procedure', sort: '-date' },
	{ name: 'visits', type: 'Encounter', sort: '-date' },
	{ name: 'documents', type: 'DocumentReference', sort: '-date' },
	{ name: 'reports', type: 'DiagnosticReport', sort: '-date' },
	{ name: 'studies', type: 'ImagingStudy', sort: '-started' },
];

/** Merges that are shown, and versions that are looked through for where a value came from. */
const mergedMax = 20;
const versionsMax = 50;

/** One patient with all that the site holds of it. That it was looked at is noted. */
export async function showPatient(context: OperationContext, input: z.output<typeof showPatientInput>): Promise<PatientChart> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const record = new SiteRecord(context, siteId);
	const found = await record.one('Patient', input.id);
	if (found === undefined) throw new AdministrationError(`there is no patient '${input.id}'`, 'not-found', 'id');
	await note(context, { action: 'patient.read', subject: found.id, siteId });
	const count = context.limits.patientRowsMax;
	const [versions, merged, ...lists] = await Promise.all([
		record.versions('Patient', found.id, versionsMax),
		Promise.all(
			linked(found.resource, 'replaces')
				.slice(0, mergedMax)
				.map((id) => record.one('Patient', id)),
		),
		...sections.map(({ type, sort }) =>
			record.search(
				type,
				[['patient', `Patient/${found.id}`], ['_sort', sort], ...(type === 'ImagingStudy' ? [['_summary', 'true'] as const] : [])],
				{ count },
			),
		),
	]);
	const rows = lists.flatMap((list) => list.found);
	const sources = await record.sources([...versions, ...rows]);
	const originOf = (of: RecordedResource) => ({
		version: of.version,
		at: of.lastUpdated,
		source: of.source,
		message: sources.get(versionOf(of)) ?? null,
	});
	const listed = (name: Section['name']) => lists[sections.findIndex((section) => section.name === name)]?.found ?? [];
	const base = (of: RecordedResource) => ({ id: of.id, origin: originOf(of) });
	return {
		patient: patientOf(found),
		telecom: asObjects(found.resource['telecom']).map((item) =>
			[asText(item['value']) ?? '', asText(item['use']) ?? ''].filter((part) => part !== '').join(' · '),
		),
		addresses: asObjects(found.resource['address']).map(addressText),
		demographics: demographicsOf(found, versions).map(({ stated: by, ...rest }) => ({ ...rest, origin: originOf(by) })),
		merged: merged.filter((one) => one !== undefined).map(patientOf),
		observations: listed('observations').map((of) => ({ ...base(of), ...observationOf(of) })),
		conditions: listed('conditions').map((of) => ({ ...base(of), ...conditionOf(of) })),
		allergies: listed('allergies').map((of) => ({ ...base(of), ...allergyOf(of) })),
		procedures: listed('procedures').map((of) => ({ ...base(of), ...codedOf(of, 'performed'), detail: '' })),
		visits: listed('visits').map((of) => ({ ...base(of), ...visitOf(of) })),
		documents: listed('documents').map((of) => ({ ...base(of), ...documentOf(of) })),
		reports: listed('reports').map((of) => ({ ...base(of), ...codedOf(of, 'effective', 'issued'), study: studyOf(of) })),
		studies: listed('studies').map((of) => ({ ...base(of), ...imagingOf(of) })),
		cut: sections.filter((_section, index) => lists[index]?.next !== undefined).map(({ name }) => name),
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

/** Each element with the version since which it has had its value. */
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

function codedOf({ resource }: RecordedResource, ...moments: string[]) {
	return {
		at: momentOf(resource, ...moments),
		code: conceptCode(resource['code']),
		text: conceptText(resource['code']),
		status: asText(resource['status']) ?? '',
	};
}

function observationOf(of: RecordedResource) {
	const { resource } = of;
	const components = asObjects(resource['component']).map((part) => `${conceptText(part['code'])} ${observedText(part)}`);
	return {
		...codedOf(of, 'effective', 'issued'),
		value: [observedText(resource), ...components].filter((part) => part !== '').join('; '),
		number: observedNumber(resource),
		range: rangeText(resource),
		interpretation: asObjects(resource['interpretation']).map(conceptText).join(', '),
	};
}

function conditionOf(of: RecordedResource) {
	const { resource } = of;
	const status = [conceptCode(resource['clinicalStatus']), conceptCode(resource['verificationStatus'])]
		.filter((part) => part !== '')
		.join(', ');
	return { ...codedOf(of, 'onset', 'recordedDate'), status, detail: asObjects(resource['category']).map(conceptText).join(', ') };
}

function allergyOf(of: RecordedResource) {
	const { resource } = of;
	const reactions = asObjects(resource['reaction']).flatMap((reaction) => asObjects(reaction['manifestation']).map(conceptText));
	const detail = [asText(resource['criticality']) ?? '', reactions.join(', ')].filter((part) => part !== '').join(': ');
	return { ...codedOf(of, 'onset', 'recordedDate'), status: conceptCode(resource['clinicalStatus']), detail };
}

function visitOf({ resource }: RecordedResource) {
	const [place] = asObjects(resource['location']);
	return {
		at: momentOf(resource, 'period'),
		code: asText((resource['class'] as { code?: string } | undefined)?.code) ?? '',
		text:
			asObjects(resource['type']).map(conceptText).join(', ') ||
			asText((resource['class'] as { display?: string } | undefined)?.display) ||
			'',
		status: asText(resource['status']) ?? '',
		detail: [periodText(resource['period']), referenceText(place?.['location'])].filter((part) => part !== '').join(' · '),
	};
}

function documentOf({ resource }: RecordedResource) {
	const [content] = asObjects(resource['content']);
	const attachment = content?.['attachment'] as { contentType?: string; title?: string } | undefined;
	return {
		at: momentOf(resource, 'date'),
		code: conceptCode(resource['type']),
		text: attachment?.title ?? (conceptText(resource['type']) || (asText(resource['description']) ?? '')),
		status: asText(resource['status']) ?? '',
		detail: attachment?.contentType ?? '',
	};
}

/** The study that a report is about, by its UID where it is referred to by that. */
function studyOf({ resource }: RecordedResource): string | null {
	return asObjects(resource['imagingStudy']).map((reference) => referencedId(reference, 'ImagingStudy'))[0] ?? null;
}

export function imagingOf({ resource }: RecordedResource) {
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
