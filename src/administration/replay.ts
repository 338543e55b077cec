import { newId } from '#core/id.ts';
import type { Delivery, DeliveryKind } from '#record/delivery.ts';
import { contentCharsetOf } from '#record/settings/content-charset.ts';
import { readSettings } from '#record/settings/settings.ts';
import { AdministrationError } from './context.ts';

/** The formats are loaded on demand, because loading them takes longer than most commands. */
const loadKinds = () => import('#ingest/kinds/index.ts');

/** Returns the kinds of messages that can be replayed. For the others, the log keeps only why they were refused. */
export async function replayableKinds(): Promise<ReadonlySet<DeliveryKind | null>> {
	const { definitions } = await loadKinds();
	return new Set(definitions.filter(({ replay }) => replay !== undefined).map(({ kind }) => kind));
}

/** The columns that a replay needs: from the log, and the current settings of the sender. */
export interface ReplayableRow {
	id: string;
	site_id: string;
	client_id: string;
	kind: DeliveryKind | null;
	source: string;
	message_type: string;
	bytes: Buffer;
	/** The message was read by these. */
	settings: unknown;
	sender_settings: unknown;
	definitions: string;
}

/** @throws AdministrationError if messages of this kind cannot be replayed */
export async function replayOf(row: ReplayableRow, nowMs: number, acceptMismatch = false): Promise<Delivery> {
	const { definitionOf } = await loadKinds();
	const replay = row.kind === null ? undefined : definitionOf(row.kind).replay;
	if (replay === undefined) {
		throw new AdministrationError(
			`the message '${row.id}' has the type ${row.message_type}, which cannot be replayed; its sender has to send it again`,
		);
	}
	const carried = replay({ messageType: row.message_type });
	const { site_id: siteId, client_id: clientId, source, bytes, id: replayed } = row;
	// A charset that came beside the bytes is no setting that somebody may have corrected since.
	const settings = { ...contentCharsetOf(readSettings(row.settings)), ...readSettings(row.sender_settings) };
	// Every kind that can be replayed may come by the surface `replay`.
	return {
		...carried,
		id: newId(nowMs),
		siteId,
		clientId,
		surface: 'replay',
		source,
		receivedAtMs: nowMs,
		settings: acceptMismatch ? { ...settings, mismatch: 'accept' } : settings,
		bytes,
		...(row.kind === 'fhir' ? { definitions: row.definitions } : {}),
		replayOf: replayed,
	} as Delivery;
}
