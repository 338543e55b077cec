import type { AuditRecord } from './calls.ts';

/** Names who acted: a key by its owner, a client by its name, and everybody else as the event does. */
export function whoOf({ actor, holder }: AuditRecord): string {
	return holder === null ? actor : `${holder} (${actor})`;
}
