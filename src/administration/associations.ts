import { z } from 'zod';
import { listAudit } from './audit.ts';
import type { OperationContext } from './context.ts';
import { instant, ofSite, page, time } from './schemas.ts';

export const listAssociationsInput = z.strictObject({ ...ofSite, since: time.optional(), until: time.optional(), ...page(50) });

export const associationRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	started_at: instant,
	ended_at: instant,
	client_id: z.string().nullable(),
	calling_ae: z.string(),
	called_ae: z.string(),
	source: z.string(),
	instances: z.number().describe('that were stored, with a warning or without'),
	warnings: z.number(),
	failed: z.number().describe('requests that were answered with a failure, or not at all'),
	bytes: z.number().describe('received'),
	requests: z.string().describe('by operation and outcome: 12 × C-STORE success'),
	end: z.string().describe('released, or why it ended otherwise: peer-abort, closed, idle, stalled, access, protocol, …'),
});
type AssociationRecord = z.output<typeof associationRecord>;

/** What the DIMSE surface notes of an association at its end (surfaces/dimse/audit). */
const noted = z.object({
	called_ae: z.string(),
	started_at: z.string(),
	bytes: z.number(),
	instances: z.number(),
	warnings: z.number(),
	failed: z.number(),
	requests: z.string(),
	end: z.string(),
});

/** DICOM associations that were accepted and have ended, newest first; without those that only tried the connection (C-ECHO). */
export async function listAssociations(
	context: OperationContext,
	input: Omit<z.output<typeof listAssociationsInput>, 'site'>,
): Promise<AssociationRecord[]> {
	const events = await listAudit(context, { ...input, action: 'dicom.association' });
	return events.map(({ id, site, recorded_at: endedAt, actor, subject, source, detail }) => ({
		...{ id, site: site ?? '', ended_at: endedAt, calling_ae: subject, source: source ?? '' },
		client_id: actor.startsWith('client:') ? actor.slice('client:'.length) : null,
		...noted.parse(detail),
	}));
}
