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
