import { patientsAlike } from './alike.ts';
import type { OperationContext } from './context.ts';
import { linked } from './patients.ts';
import { escaped, type RecordedResource, type SiteRecord } from './site-record.ts';

/** More patients of a site do not share a number unless something is wrong. */
const sharedMax = 20;

/** Returns the patients whom a person names by an id, or by a number that has not become another patient's by a merge. */
export async function patientsNamed(record: SiteRecord, text: string): Promise<RecordedResource[]> {
	const byId = await record.one('Patient', text);
	if (byId !== undefined) return [byId];
	const { found } = await record.search('Patient', [['identifier', escaped(text)]], { count: sharedMax });
	return found.filter(({ resource }) => linked(resource, 'replaced-by').length === 0);
}

/** Returns the ids of the patients whom a list is narrowed to: by an id, or by the beginning of a number, as `patientsNamed` names one. */
export async function patientsBegun(
	context: OperationContext,
	record: SiteRecord,
	{ siteId, text }: { siteId: string; text: string },
): Promise<string[]> {
	const byId = await record.one('Patient', text);
	if (byId !== undefined) return [byId.id];
	const numbered = await patientsAlike(context, [siteId], { text, field: 'patient' });
	const rowIds = [...new Set(numbered.map(({ patient_id: id }) => id))];
	const found = await record.byRowId('Patient', rowIds);
	return found.filter(({ resource }) => linked(resource, 'replaced-by').length === 0).map(({ id }) => id);
}
