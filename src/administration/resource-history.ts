import { z } from 'zod';
import { definitionOf } from '#fhir/resources/index.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { linesThatDiffer, shownLine } from './line-difference.ts';
import { origin, originsOf } from './origin.ts';
import { SiteRecord } from './site-record.ts';
import { siteBySlug } from './sites.ts';

/** One answer has at most this many versions, the newest. */
export const versionsMax = 50;

export const resourceHistoryInput = z.strictObject({
	site: z.string(),
	type: z.string().max(64).describe('the type of the resource, such as Observation'),
	id: z.string().max(64).describe('the id of the resource'),
});

export const resourceHistory = z.strictObject({
	site: z.string(),
	type: z.string(),
	id: z.string(),
	versions: z
		.array(
			z.strictObject({
				...origin.shape,
				json: z.string().nullable().describe('the resource as FHIR answers it, decimals with their digits; null for a deletion'),
				differs: z
					.array(shownLine)
					.nullable()
					.describe('the lines that differ from the version before; null if there is nothing to compare with'),
			}),
		)
		.describe('newest first'),
	more: z.boolean().describe('there are older versions; the FHIR surface has them (_history)'),
});

/** Shows a resource as JSON with its versions. The audit trail records that it was read, with its patient. */
export async function showResourceHistory(
	context: OperationContext,
	{ site, type, id }: z.infer<typeof resourceHistoryInput>,
): Promise<z.input<typeof resourceHistory>> {
	const { id: siteId } = await siteBySlug(context.em.fork(), site);
	const definition = definitionOf(type);
	if (definition === undefined) throw new AdministrationError(`there is no resource type '${type}'`, 'form', 'type');
	const record = new SiteRecord(context, siteId);
	const { versions, more } = await record.history(type as ResourceType, id, versionsMax);
	const newest = versions.find(({ resource }) => resource !== undefined);
	if (versions.length === 0) throw new AdministrationError(`there is no ${type} '${id}'`, 'not-found', 'id');
	const patient = type === 'Patient' ? rowIdOf(id) : newest?.resource && definition.table.statedLinks(newest.resource)['patient_id'];
	await note(context, {
		action: 'resource.read',
		subject: `${type}/${id}`,
		siteId,
		patients: [typeof patient === 'string' ? patient : null],
	});
	const originOf = await originsOf(record, versions);
	const texts = versions.map(({ resource }) => (resource === undefined ? null : JSON.stringify(resource, null, 2)));
	const shown: z.input<typeof resourceHistory>['versions'] = [];
	for (const [index, version] of versions.entries()) {
		const [json = null, before = null] = [texts[index], texts[index + 1]];
		shown.push({ ...originOf(version), json, differs: json === null || before === null ? null : linesThatDiffer(before, json) });
		// To compare long texts takes some time, in which others are served.
		await new Promise((resolve) => setImmediate(resolve));
	}
	return { site, type, id, versions: shown, more };
}
