import { z } from 'zod';
import type { JsonObject } from '#core/json.ts';
import { asObjects } from '#fhir/elements.ts';
import { flags, measuredValues } from '#fhir/measured.ts';
import { conceptText, momentOf } from '#fhir/summaries.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { origin, originsOf } from './origin.ts';
import { patientOf, patientRecord } from './patients.ts';
import { time } from './schemas.ts';
import { SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';

/** The part of a result that a list and a chart show. */
export const measuredFacts = {
	digits: z.string().nullable().describe('the number as it was stated; null where the value is no number'),
	comparator: z.string().describe('`<`, `<=`, `>=` or `>`; empty where the value is exact'),
	unit: z.string(),
	low: z.string().nullable().describe('the lower end of the reference range, in the unit of the value; null where it is not certain'),
	high: z.string().nullable(),
	range: z.string().describe('the reference range as stated'),
	interpretation: z.string().describe("the sender's own flags, as text"),
	flag: z.enum(flags).nullable().describe("the meaning of the sender's own flags; null where there is none, or none that is known"),
	derived: z
		.enum(['low', 'high'])
		.nullable()
		.describe('what follows from the reference range; null where the value is in range or nothing certain follows'),
};

export const patientResultsInput = z.strictObject({
	site: z.string(),
	id: z.string(),
	since: time.optional().describe('results of this time and later'),
	until: time.optional().describe('results before this time'),
	code: z.string().max(200).optional().describe('only results with this code'),
});

const result = z.strictObject({
	id: z.string().describe('id of the Observation'),
	origin,
	at: z.string().nullable().describe('when it was observed, as stated'),
	code: z.string(),
	system: z.string(),
	text: z.string(),
	status: z.string(),
	category: z.string(),
	value: z.string().describe('the value with comparator and unit'),
	...measuredFacts,
});

export const patientResults = z.strictObject({
	patient: patientRecord,
	results: z.array(result).describe('newest first; a component of an observation is a result of its own'),
	cut: z.boolean().describe('true if there are older results in the period; narrow the period to see them'),
});

/** Lists the results of a patient in a period. The audit trail records that they were viewed. */
export async function listPatientResults(
	context: OperationContext,
	{ site, id, since, until, code }: z.output<typeof patientResultsInput>,
): Promise<z.output<typeof patientResults>> {
	const { id: siteId } = await siteBySlug(context.em.fork(), site);
	const record = new SiteRecord(context, siteId);
	const found = await record.one('Patient', id);
	if (found === undefined) throw new AdministrationError(`there is no patient '${id}'`, 'not-found', 'id');
	await note(context, { action: 'patient.read', subject: found.id, siteId, patients: [found.rowId], after: { results: { since, until } } });
	const narrowed: [string, string][] = [];
	if (since !== undefined) narrowed.push(['date', `ge${since}`]);
	if (until !== undefined) narrowed.push(['date', `lt${until}`]);
	if (code !== undefined) narrowed.push(['code', code.replaceAll(/[\\,$|]/g, '\\$&')]);
	const { found: rows, next } = await record.search('Observation', [['patient', `Patient/${found.id}`], ...narrowed, ['_sort', '-date']], {
		count: context.limits.patientResultsMax,
	});
	const originOf = await originsOf(record, rows);
	return {
		patient: patientOf(found),
		results: rows.flatMap((row) => {
			const at = momentOf(row.resource, 'effective', 'issued');
			return resultsOf(row.resource).map((values) => ({ id: row.id, origin: originOf(row), at, ...values }));
		}),
		cut: next !== undefined,
	};
}

function resultsOf(resource: JsonObject) {
	const status = String(resource['status'] ?? '');
	const category = asObjects(resource['category']).map(conceptText).join(', ');
	return measuredValues(resource).map((values) => ({ ...values, status, category }));
}
