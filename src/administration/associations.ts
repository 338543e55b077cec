import { z } from 'zod';
import { listTrail } from './audit.ts';
import type { OperationContext } from './context.ts';
import { instant, ofSite, page, time } from './schemas.ts';

const associationOutcomes = ['complete', 'failed', 'broken-off'] as const;

export const listAssociationsInput = z.strictObject({
	...ofSite,
	ae: z.string().trim().max(64).optional().describe('the beginning of the calling or called AE title, in any case'),
	outcome: z
		.enum(associationOutcomes)
		.optional()
		.describe('complete: released, and nothing failed; failed: a request failed; broken-off: it ended without a release'),
	since: time.optional(),
	until: time.optional(),
	...page(50),
});

export const associationRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	started_at: instant,
	ended_at: instant,
	client_id: z.string().nullable(),
	calling_ae: z.string(),
	called_ae: z.string(),
	source: z.string(),
	instances: z.number().describe('number of instances stored, with or without a warning'),
	warnings: z.number(),
	failed: z.number().describe('number of requests answered with a failure, or not answered'),
	bytes: z.number().describe('bytes received'),
	requests: z.string().describe('requests by operation and outcome, such as 12 × C-STORE success'),
	studies: z.array(z.string()).describe('Study Instance UIDs of what was stored, at most 100'),
	end: z.string().describe('how the association ended: released, peer-abort, closed, idle, stalled, access, protocol, …'),
});
type AssociationRecord = z.output<typeof associationRecord>;

/** The DIMSE surface records this when an association ends (surfaces/dimse/audit). */
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

/** Lists accepted DICOM associations that have ended, newest first. Associations that only sent a C-ECHO are not recorded. */
export async function listAssociations(
	context: OperationContext,
	{ ae, outcome, ...input }: Omit<z.output<typeof listAssociationsInput>, 'site'>,
): Promise<AssociationRecord[]> {
	const events = await listTrail(context, { ...input, part: 'associations', association: { ae, outcome } });
	return events.map(({ id, site, recorded_at: endedAt, actor, subject, source, detail, studies }) => ({
		...{ id, site: site ?? '', ended_at: endedAt, calling_ae: subject, source: source ?? '' },
		client_id: actor.startsWith('client:') ? actor.slice('client:'.length) : null,
		...noted.parse(detail),
		studies,
	}));
}
