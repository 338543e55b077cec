import { type FailureReason, failureReasons, type RefusedInstance } from '#dicom/commitment.ts';
import { isWhole } from '#imaging/wholeness.ts';
import type { ReferencedInstance } from '#record/instance.ts';
import type { CommitmentTable, IndexedInstance, NotedCommitment } from '#storage/commitments.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';

export type InstanceOutcome = 'committed' | 'missing' | 'class-conflict' | 'conflict' | 'damaged' | 'duplicate-transaction';

export interface Judgement {
	committed: ReferencedInstance[];
	refused: RefusedInstance[];
	outcomes: InstanceOutcome[];
}

const reasons: Readonly<Record<Exclude<InstanceOutcome, 'committed'>, FailureReason>> = {
	missing: failureReasons.noSuchObjectInstance,
	'class-conflict': failureReasons.classInstanceConflict,
	conflict: failureReasons.processingFailure,
	damaged: failureReasons.processingFailure,
	'duplicate-transaction': failureReasons.duplicateTransactionUid,
};

/** The number of files about which the object store is asked at once. */
const askedAtOnce = 32;

async function outcomeOf(
	{ sopClassUid }: ReferencedInstance,
	indexed: IndexedInstance | undefined,
	objects: Pick<ObjectStore, 'size' | 'read'>,
): Promise<InstanceOutcome> {
	if (indexed === undefined) return 'missing';
	if (indexed.sopClassUid !== sopClassUid) return 'class-conflict';
	if (indexed.hasConflict) return 'conflict';
	return (await isWhole(objects, indexed.objectKey, indexed.bytes)) ? 'committed' : 'damaged';
}

/**
 * Commits the instances that the index has without an open conflict and whose file lies in the object store in its full
 * size and ends where its last element ends. What an earlier release stored cut off is not committed.
 * @throws when the database or the object store cannot be asked
 */
export async function judge(
	request: NotedCommitment,
	table: Pick<CommitmentTable, 'indexed'>,
	objects: Pick<ObjectStore, 'size' | 'read'>,
): Promise<Judgement> {
	const { siteId, references, isDuplicate } = request;
	const outcomes: InstanceOutcome[] = [];
	if (isDuplicate) outcomes.push(...references.map(() => 'duplicate-transaction' as const));
	else {
		const indexed = await table.indexed(
			siteId,
			references.map(({ sopInstanceUid }) => sopInstanceUid),
		);
		for (let at = 0; at < references.length; at += askedAtOnce) {
			const some = references.slice(at, at + askedAtOnce);
			outcomes.push(...(await Promise.all(some.map((reference, index) => outcomeOf(reference, indexed[at + index], objects)))));
		}
	}
	const committed: ReferencedInstance[] = [];
	const refused: RefusedInstance[] = [];
	for (const [index, reference] of references.entries()) {
		const outcome = outcomes[index] as InstanceOutcome;
		if (outcome === 'committed') committed.push(reference);
		else refused.push({ ...reference, reason: reasons[outcome] });
	}
	return { committed, refused, outcomes };
}
