import { z } from 'zod';
import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import { asObject, asObjects, asText } from '#fhir/elements.ts';
import { conceptText, personName, referencedId } from '#fhir/summaries.ts';
import type { Clause } from '#record/search-plan.ts';
import { patientsAlike } from './alike.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { escaped, type RecordedResource, SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';

export const searchPatientsInput = z.strictObject({
	site: z.string(),
	text: z
		.string()
		.trim()
		.max(200)
		.default('')
		.describe(
			'the beginning of an identifier in any case, parts of a name, or a birth date; without it, the most recently changed patients',
		),
	before: z.string().optional().describe('id of the last patient on the previous page'),
	limit: z.coerce.number().int().min(1).max(200).default(50),
});

export const patientRecord = z.strictObject({
	id: z.string(),
	name: z.string(),
	birth_date: z.string().nullable(),
	gender: z.string().nullable(),
	deceased: z.boolean(),
	active: z.boolean(),
	identifiers: z.array(z.strictObject({ value: z.string(), system: z.string(), type: z.string(), old: z.boolean() })),
	replaced_by: z.string().nullable().describe('id of the patient into which this one was merged'),
	updated_at: z.string(),
});
export type PatientRecord = z.output<typeof patientRecord>;

export function patientOf({ id, resource, lastUpdated }: RecordedResource): PatientRecord {
	const deceased = resource['deceasedDateTime'] ?? resource['deceasedBoolean'];
	return {
		id,
		name: personName(resource['name']),
		birth_date: asText(resource['birthDate']) ?? null,
		gender: asText(resource['gender']) ?? null,
		deceased: deceased !== undefined && deceased !== false,
		active: resource['active'] !== false,
		identifiers: asObjects(resource['identifier']).map((identifier) => ({
			value: asText(identifier['value']) ?? '',
			system: asText(identifier['system']) ?? asText(asObject(identifier['assigner'])?.['display']) ?? '',
			type: conceptText(identifier['type']),
			old: identifier['use'] === 'old',
		})),
		replaced_by: linked(resource, 'replaced-by')[0] ?? null,
		updated_at: lastUpdated,
	};
}

/** Returns the ids of linked patients. */
export function linked(resource: JsonObject, type: 'replaces' | 'replaced-by'): string[] {
	return asObjects(resource['link']).flatMap((link) => {
		const id = link['type'] === type ? referencedId(link['other'], 'Patient') : null;
		return id === null ? [] : [id];
	});
}

/** `begun` is by the beginning of an identifier. */
type Mode = 'changed' | 'identifier' | 'name' | 'begun';

/**
 * Finds patients of a site by the beginning of an identifier, or by name and birth date: by the first of them that finds somebody. A text without
 * a digit is a name first, and so is a birth date; an identifier that is the whole text goes before both.
 */
export async function searchPatients(context: OperationContext, input: z.output<typeof searchPatientsInput>): Promise<PatientRecord[]> {
	const { id: siteId } = await siteBySlug(context.em.fork(), input.site);
	const record = new SiteRecord(context, siteId);
	const last = input.before === undefined ? undefined : await record.one('Patient', input.before);
	if (input.before !== undefined && last === undefined) return [];
	for (const mode of modesOf(input.text)) {
		const parameters = parametersOf(mode, input.text);
		const further = mode === 'begun' ? [await hasNumberAlike(context, siteId, input.text)] : [];
		const after = last && { id: last.rowId, keys: mode === 'changed' ? [last.lastUpdated] : [] };
		const { found } = await taken(record.search('Patient', parameters, { count: input.limit, after, further }));
		if (found.length > 0) {
			await note(context, { action: 'patient.search', subject: subjectOf(mode), siteId, patients: found.map(({ rowId }) => rowId) });
			return found.map(patientOf);
		}
		// An empty page is the end of the list that the pages before it are of; it does not start another search.
		if (last && (await taken(record.search('Patient', parameters, { count: 1, further }))).found.length > 0) return [];
	}
	return [];
}

/** The audit trail says by what kind of text the patients were found. */
const subjectOf = (mode: Mode) => (mode === 'begun' ? 'identifier' : mode);

async function hasNumberAlike(context: OperationContext, siteId: string, text: string): Promise<Clause> {
	const numbered = await patientsAlike(context, [siteId], { text, field: 'text' });
	return { kind: 'reference', column: 'id', ids: [...new Set(numbered.map(({ patient_id: id }) => id))] };
}

/** A text that cannot be searched for, such as an impossible date, is refused with the reason. */
async function taken<T>(work: Promise<T>): Promise<T> {
	try {
		return await work;
	} catch (error) {
		if (error instanceof Failure && error.code === 'invalid') throw new AdministrationError(error.diagnostics, 'form', 'text');
		throw error;
	}
}

function modesOf(text: string): Mode[] {
	if (text === '') return ['changed'];
	return /[0-9]/.test(text) && birthDateOf(text) === undefined ? ['begun', 'name'] : ['identifier', 'name', 'begun'];
}

function parametersOf(mode: Mode, text: string): [string, string][] {
	if (mode === 'changed') return [['_sort', '-_lastUpdated']];
	if (mode === 'identifier') return [['identifier', escaped(text)]];
	if (mode === 'begun') return [];
	const words = text.split(/[\s,]+/).filter((word) => word !== '');
	return words.map((word) => {
		const date = birthDateOf(word);
		return date === undefined ? ['name', escaped(word)] : ['birthdate', date];
	});
}

/** `1970-01-31`, `1970-01`, `19700131`, `31.01.1970` */
function birthDateOf(word: string): string | undefined {
	const [, year, month, day] = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(word) ?? /^((?:18|19|20)\d\d)(\d\d)(\d\d)$/.exec(word) ?? [];
	if (year !== undefined) return [year, month, day].filter((part) => part !== undefined).join('-');
	const [, dayFirst, then, last] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(word) ?? [];
	return last === undefined ? undefined : `${last}-${then?.padStart(2, '0')}-${dayFirst?.padStart(2, '0')}`;
}
