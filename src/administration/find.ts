import { z } from 'zod';
import { isUuid } from '#core/id.ts';
import { personName } from '#fhir/summaries.ts';
import { beginningsOf } from '#storage/statements/administrative/alike.ts';
import { findIds } from '#storage/statements/administrative/find-ids.ts';
import { note, type OperationContext } from './context.ts';
import { ofSite } from './schemas.ts';
import { SiteRecord } from './site-record.ts';
import { visibleSiteIds } from './visible-sites.ts';

/** A person waits while typing. */
const withinMs = 3000;

export const findInput = z.strictObject({
	...ofSite,
	text: z
		.string()
		.trim()
		.min(2)
		.max(200)
		.describe('the beginning of an id in any case, or a part of the name of a site, a client or a key'),
});

export const foundThing = z.strictObject({
	kind: z.enum(['site', 'client', 'key', 'message', 'patient', 'study']),
	site: z.string(),
	id: z.string(),
	title: z.string(),
	detail: z.string().describe('what it is, and the id that was found'),
});
type FoundThing = z.output<typeof foundThing>;

interface FoundRow extends FoundThing {
	site_id: string;
}

/** Finds what an id belongs to. The audit trail names the patients that were found. */
export async function findThings(context: OperationContext, { text }: z.output<typeof findInput>): Promise<FoundThing[]> {
	const small = text.toLowerCase();
	const values = [await visibleSiteIds(context), beginningsOf(text), small, isUuid(small) ? small : null];
	const rows = await context.database.search<FoundRow>(findIds, values, Math.min(withinMs, context.limits.readMsMax));
	const patients = rows.filter(({ kind }) => kind === 'patient').slice(0, patientsMax);
	const others = rows.filter(({ kind }) => kind !== 'patient').map(({ site_id: _, ...row }) => row);
	const found = [...(await named(context, patients)), ...others];
	const order = foundThing.shape.kind.options;
	return found.sort((one, other) => rank(one, small) - rank(other, small) || order.indexOf(one.kind) - order.indexOf(other.kind));
}

const patientsMax = 10;

/** An exact match goes before a longer id. */
function rank({ id, title, detail }: FoundThing, text: string): number {
	return [id, title, detail.split(' ').at(-1) ?? ''].some((value) => value.toLowerCase() === text) ? 0 : 1;
}

async function named(context: OperationContext, rows: readonly FoundRow[]): Promise<FoundThing[]> {
	const found: FoundThing[] = [];
	for (const siteId of new Set(rows.map((row) => row.site_id))) {
		const ofSite = rows.filter((row) => row.site_id === siteId);
		const ids = [...new Set(ofSite.map(({ id }) => id))];
		const patients = await new SiteRecord(context, siteId).byRowId('Patient', ids);
		if (patients.length === 0) continue;
		await note(context, { action: 'patient.search', subject: 'id', siteId, patients: patients.map(({ rowId }) => rowId) });
		for (const { rowId, id, resource } of patients) {
			const row = ofSite.find((each) => each.id === rowId);
			if (row)
				found.push({
					kind: 'patient',
					site: row.site,
					id,
					title: personName(resource['name']) || id,
					detail: `patient ${row.detail}`.trim(),
				});
		}
	}
	return found;
}
