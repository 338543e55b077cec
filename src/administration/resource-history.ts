import { z } from 'zod';
import { definitionOf } from '#fhir/resources/index.ts';
import { isFhirId, rowIdOf } from '#record/row-id.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { AdministrationError, note, type OperationContext } from './context.ts';
import { linesThatDiffer, shownLine } from './line-difference.ts';
import { SiteRecord, versionOf } from './site-record.ts';
import { siteBySlug } from './sites.ts';

/** The newest versions that one answer has. */
const versionsMax = 50;

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
				version: z.int(),
				at: z.string().describe('meta.lastUpdated'),
				source: z.string().nullable().describe('meta.source'),
				message: z.string().nullable().describe('id of the logged message that wrote it'),
				json: z.string().nullable().describe('the resource as FHIR answers it, decimals with their digits; null for a deletion'),
				differs: z
					.array(shownLine)
					.nullable()
					.describe('the lines that differ from the version before; null where there is nothing to compare'),
			}),
		)
		.describe('newest first'),
	more: z.boolean().describe('there are older versions, which FHIR gives (_history)'),
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
	const { versions, more } = isFhirId(id) ? await record.history(type as ResourceType, id, versionsMax) : { versions: [], more: false };
	const newest = versions.find(({ resource }) => resource !== undefined);
	if (versions.length === 0) throw new AdministrationError(`there is no ${type} '${id}'`, 'not-found', 'id');
	const patient = type === 'Patient' ? rowIdOf(id) : newest?.resource && definition.table.statedLinks(newest.resource)['patient_id'];
	await note(context, {
		action: 'resource.read',
		subject: `${type}/${id}`,
		siteId,
		patients: [typeof patient === 'string' ? patient : null],
	});
	const sources = await record.sources(versions);
	const texts = versions.map(({ resource }) => (resource === undefined ? null : JSON.stringify(resource, null, 2)));
	return {
		...{ site, type, id, more },
		versions: versions.map((version, index) => {
			const [json = null, before = null] = [texts[index], texts[index + 1]];
			return {
				version: version.version,
				at: version.lastUpdated,
				source: version.source,
				message: sources.get(versionOf(version)) ?? null,
				json,
				differs: json === null || before === null ? null : linesThatDiffer(before, json),
			};
		}),
	};
}
