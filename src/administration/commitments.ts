import { z } from 'zod';
import { listCommitments as listStatement } from '#storage/statements/administrative/commitments.ts';
import type { OperationContext } from './context.ts';
import { instant, ofSite, page } from './schemas.ts';

const states = ['waiting', 'reported', 'failed'] as const;
export const listCommitmentsInput = z.strictObject({
	...ofSite,
	state: z.enum(states).optional(),
	limit: page(100).limit,
});

export const commitmentRecord = z.strictObject({
	id: z.uuid(),
	site: z.string(),
	transaction_uid: z.string(),
	calling_ae: z.string(),
	source: z.string(),
	state: z.enum(states),
	instances: z.int(),
	committed: z.int().nullable(),
	refused: z.int().nullable(),
	attempts: z.int(),
	failure: z.string().nullable(),
	received_at: instant,
	settled_at: instant.nullable(),
});
export type CommitmentRecord = z.infer<typeof commitmentRecord>;

type Row = Omit<CommitmentRecord, 'received_at' | 'settled_at'> & { received_at: Date; settled_at: Date | null };

/** Lists storage commitment requests with the state of their reports, newest first. */
export async function listCommitments(
	{ database, visibleSites }: Pick<OperationContext, 'database' | 'visibleSites'>,
	{ state, limit }: Omit<z.infer<typeof listCommitmentsInput>, 'site'>,
): Promise<CommitmentRecord[]> {
	const rows = await database.rows<Row>(listStatement, [visibleSites === 'all' ? null : visibleSites, state ?? null, limit]);
	return rows.map((row) => ({ ...row, received_at: row.received_at.toISOString(), settled_at: row.settled_at?.toISOString() ?? null }));
}
