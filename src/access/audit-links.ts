import type { Cell } from '#storage/cell.ts';
import type { Connection } from '#storage/connection.ts';
import { stateOf } from '#storage/sqlstate.ts';
import { readUnlinkedEvents } from '#storage/statements/administrative/audit-chain.ts';
import type { AuditChain } from './audit-chain.ts';
import type { LinkedEvent } from './audit-digest.ts';

/** Events of one batch. */
const eventsMax = 500;
/** Batches of one call; the rest is linked with the next. */
const batchesMax = 20;

/** Links the events that changes have written in their own transactions. */
export async function linkUnlinked(connection: Pick<Connection, 'run'>, chain: AuditChain): Promise<void> {
	for (let batch = 0; batch < batchesMax; batch++) {
		const events = (await connection.run(readUnlinkedEvents, [eventsMax])).map(linkedEventOf);
		if (events.length === 0) return;
		try {
			await chain.append('link', events);
		} catch (error) {
			// Another node was linking the same events; whatever it left is linked with the next call.
			if (stateOf(error) !== checkViolation) throw error;
			chain.abandon();
			return;
		}
		if (events.length < eventsMax) return;
	}
}

/** The number of events of the batch is then not that of the statement. */
const checkViolation = '23514';

/** Reads the cells of `linkedColumns`. */
export function linkedEventOf(cells: readonly Cell[]): LinkedEvent {
	const [id, atMicros, siteId, actor, action, subject, source = null, detail, patients, studies] = cells;
	const list = (cell: Cell | undefined): string[] | null => (cell ? (JSON.parse(cell) as string[]) : null);
	return {
		...{ id: id ?? '', atMicros: atMicros ?? '', siteId: siteId ?? '', actor: actor ?? '', action: action ?? '', subject: subject ?? '' },
		...{ source, detail: JSON.parse(detail ?? 'null') as unknown, patients: list(patients), studies: list(studies) },
	};
}
