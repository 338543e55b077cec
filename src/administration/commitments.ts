import { z } from 'zod';
import { readRows } from '#storage/administrative-reader.ts';
import { listCommitments as listStatement } from '#storage/statements/administrative/commitments.ts';

export const listCommitmentsInput = z.strictObject({
	site: z.string().optional(),
	state: z.enum(['waiting', 'reported', 'failed']).optional(),
	limit: z.coerce.number().int().min(1).max(1000).default(100),
});

export interface CommitmentRecord {
	id: string;
	site: string;
	transaction_uid: string;
	calling_ae: string;
	source: string;
	state: 'waiting' | 'reported' | 'failed';
	instances: number;
	committed: number | null;
	refused: number | null;
	attempts: number;
	failure: string | null;
	received_at: string;
	settled_at: string | null;
}

type Row = Omit<CommitmentRecord, 'received_at' | 'settled_at'> & { received_at: Date; settled_at: Date | null };

/** Requests for storage commitment with what became of their reports, the newest first. */
export async function listCommitments(
	{ databaseUrl }: { databaseUrl: string },
	{ site, state, limit }: z.infer<typeof listCommitmentsInput>,
): Promise<CommitmentRecord[]> {
	const rows = await readRows<Row>(databaseUrl, listStatement, [site ?? null, state ?? null, limit]);
	return rows.map((row) => ({ ...row, received_at: row.received_at.toISOString(), settled_at: row.settled_at?.toISOString() ?? null }));
}
