import { z } from 'zod';
import { rowIdOf } from '#record/row-id.ts';
import type { ResourceType } from '#record/table-shape.ts';
import { newerMessage } from '#storage/statements/administrative/read-messages.ts';
import type { OperationContext } from './context.ts';
import { instant } from './schemas.ts';
import { SiteRecord, versionOf } from './site-record.ts';

export const overtaken = z.strictObject({
	version: z.string().nullable().describe('the current version of a resource of which the message wrote an earlier one'),
	message: z
		.strictObject({ id: z.uuid(), message_type: z.string(), received_at: instant })
		.nullable()
		.describe('the newest accepted message about the same patient'),
});

interface LoggedRow {
	id: string;
	site_id: string;
	outcome: string;
	changed: readonly string[] | null;
	patient: string | null;
	other_patient: string | null;
}

/** Resources of a message that are compared; a message that wrote more is judged by these. */
const comparedMax = 100;

/** Returns what came after an accepted message and would be set back by its replay; null when nothing did. */
export async function overtakenBy(context: OperationContext, row: LoggedRow): Promise<z.output<typeof overtaken> | null> {
	if (row.outcome !== 'accepted') return null;
	const changed = row.changed ?? [];
	const version = await newerVersion(new SiteRecord(context, row.site_id), changed.slice(0, comparedMax));
	// A message that wrote nothing new said what the record held then.
	if (version === null && changed.length > 0) return null;
	const values = [row.patient, row.other_patient].filter((value) => value !== null);
	type Newer = { id: string; message_type: string; received_at: Date };
	const [newer] = values.length === 0 ? [] : await context.database.rows<Newer>(newerMessage, [row.site_id, row.id, values]);
	if (version === null && newer === undefined) return null;
	return { version, message: newer ? { ...newer, received_at: newer.received_at.toISOString() } : null };
}

async function newerVersion(record: SiteRecord, changed: readonly string[]): Promise<string | null> {
	const written = new Map<ResourceType, Map<string, number>>();
	for (const name of changed) {
		const [, type, id, version] = /^(\w+)\/([^/]+)\/_history\/(\d+)$/.exec(name) ?? [];
		if (type === undefined || id === undefined) continue;
		const ofType = written.get(type as ResourceType) ?? new Map<string, number>();
		written.set(type as ResourceType, ofType.set(rowIdOf(id), Number(version)));
	}
	for (const [type, versions] of written) {
		const current = await record.byRowId(type, [...versions.keys()]);
		const newer = current.find(({ rowId, version }) => version > (versions.get(rowId) ?? version));
		if (newer !== undefined) return versionOf(newer);
	}
	return null;
}

/** Says in one sentence what a replay would set back. */
export function overtakenText({ version, message }: z.output<typeof overtaken>): string {
	const later = message && `the message '${message.id}' (${message.message_type}, ${message.received_at}) came later`;
	const newer = version && `${version} is newer`;
	return `the message was accepted and is not the newest: ${[newer, later].filter((part) => part !== null).join(', and ')}`;
}
