import { AlertRecorder } from '#alerts/recorder.ts';
import { silentLog } from '#core/log.ts';
import type { StatementRunner } from '#storage/connection.ts';

/** Tells nobody while the database is away. */
const nobody = { begin: () => undefined, send: () => undefined, isSending: () => false, told: () => [], forget: () => undefined };

/** The recorder of alerts of one node of a network. */
export function alertRecorder(database: StatementRunner, nodeId: string, endMs = 60_000): AlertRecorder {
	return new AlertRecorder({ database, nodeId, node: `node-${nodeId}`, endMs, away: nobody, log: silentLog, nowMs: () => Date.now() });
}
