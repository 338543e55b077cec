import { newId } from '#core/id.ts';
import type { ReferencedInstance } from '#record/instance.ts';
import type { Connection } from './connection.ts';
import { textArray } from './statement.ts';
import { claimCommitments, deleteOldCommitments } from './statements/administrative/commitments.ts';
import { judgeInstances, noteCommitment, postponeCommitment, settleCommitment } from './statements/commitment.ts';

/** A request for storage commitment as an association brought it. */
export interface NewCommitment {
	siteId: string;
	transactionUid: string;
	callingAe: string;
	calledAe: string;
	/** Address of the sender. */
	source: string;
	references: readonly ReferencedInstance[];
}

/** A request whose report is still to be made. */
export interface NotedCommitment extends Omit<NewCommitment, 'source'> {
	id: string;
	/** True when another list was noted under the transaction UID before. */
	isDuplicate: boolean;
	/** The number of tries to deliver the report, including this one. */
	attempts: number;
}

/** The indexed data of a SOP Instance UID. */
export interface IndexedInstance {
	sopClassUid: string;
	objectKey: string;
	bytes: number;
	/** True when other content under the same UID waits for a person's decision. */
	hasConflict: boolean;
}

/** Instances that one statement looks up. A longer request takes several statements. */
const judgedAtOnce = 500;

/** The table of requests for storage commitment. While the database is away, every call fails as a statement does. */
export class CommitmentTable {
	readonly #connection: Connection;

	constructor(connection: Connection) {
		this.#connection = connection;
	}

	/** Notes a request; it is durable when this resolves. @param heldMs time in which no other node takes it up */
	async note(request: NewCommitment, heldMs: number): Promise<{ noted: NotedCommitment; isRepeated: boolean }> {
		const { siteId, transactionUid, callingAe, calledAe, source, references } = request;
		const [row] = await this.#connection.runOpened(noteCommitment, [
			siteId,
			newId(),
			transactionUid,
			callingAe,
			calledAe,
			source,
			textArray(references.map(({ sopClassUid }) => sopClassUid)),
			textArray(references.map(({ sopInstanceUid }) => sopInstanceUid)),
			heldMs,
		]);
		const [id, isDuplicate, kind] = row as [string, string, string];
		const noted = { id, siteId, transactionUid, callingAe, calledAe, references, isDuplicate: isDuplicate === 't', attempts: 0 };
		return { noted, isRepeated: kind === 'again' };
	}

	/** Takes requests that are due, for `heldMs`. */
	async claim(most: number, heldMs: number): Promise<NotedCommitment[]> {
		const rows = (await this.#connection.runOpened(claimCommitments, [most, heldMs])) as string[][];
		return rows.map(([siteId, id, transactionUid, isDuplicate, callingAe, calledAe, attempts, classes, instances]) => {
			const classUids = String(classes).split(' ');
			const references = String(instances)
				.split(' ')
				.map((sopInstanceUid, index) => ({ sopClassUid: String(classUids[index]), sopInstanceUid }));
			return {
				siteId: String(siteId),
				id: String(id),
				transactionUid: String(transactionUid),
				isDuplicate: isDuplicate === 't',
				callingAe: String(callingAe),
				calledAe: String(calledAe),
				attempts: Number(attempts),
				references,
			};
		});
	}

	/** Returns the index entries in the order of the UIDs; undefined for a UID that the site's index lacks. */
	async indexed(siteId: string, sopInstanceUids: readonly string[]): Promise<(IndexedInstance | undefined)[]> {
		const found: (IndexedInstance | undefined)[] = [];
		for (let at = 0; at < sopInstanceUids.length; at += judgedAtOnce) {
			const rows = await this.#connection.runOpened(judgeInstances, [siteId, textArray(sopInstanceUids.slice(at, at + judgedAtOnce))]);
			for (const [sopClassUid, objectKey, bytes, hasConflict] of rows) {
				found.push(
					sopClassUid && objectKey ? { sopClassUid, objectKey, bytes: Number(bytes), hasConflict: hasConflict === 't' } : undefined,
				);
			}
		}
		return found;
	}

	async settle({ siteId, id }: NotedCommitment, committed: number, refused: number): Promise<void> {
		await this.#connection.runOpened(settleCommitment, [siteId, id, committed, refused]);
	}

	/** Returns true when the request is given up, because it came more than `withinMs` ago. */
	async postpone({ siteId, id }: NotedCommitment, forMs: number, withinMs: number, failure: string): Promise<boolean> {
		const [row] = await this.#connection.runOpened(postponeCommitment, [siteId, id, forMs, withinMs, failure]);
		return row?.[0] === 'failed';
	}

	async removeOld(keptMs: number): Promise<void> {
		await this.#connection.runOpened(deleteOldCommitments, [keptMs]);
	}
}
