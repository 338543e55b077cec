import { newId } from '#core/id.ts';
import type { Delivery, DeliveryKind } from '#record/delivery.ts';
import { AdministrationError } from './context.ts';

/** The formats are loaded when they are asked for: that takes longer than most commands of the command line do. */
const loadKinds = () => import('#ingest/kinds/index.ts');

/** The kinds of messages that can be taken again. The log keeps of the others only why they were refused. */
export async function replayableKinds(): Promise<ReadonlySet<DeliveryKind | null>> {
	const { definitions } = await loadKinds();
	return new Set(definitions.filter(({ replay }) => replay !== undefined).map(({ kind }) => kind));
}

/** A replay takes these from the log, and from the settings that its site and client have now. */
export interface ReplayableRow {
	id: string;
	site_id: string;
	client_id: string;
	kind: DeliveryKind | null;
	source: string;
	message_type: string;
	bytes: Buffer;
	default_authority: string | null;
	update_creates: boolean;
	check_references: boolean;
	also_events: string[] | null;
	ignore_events: string[] | null;
	ack_mode: string | null;
}

/** @throws AdministrationError where messages of this kind are not replayed */
export async function replayOf(row: ReplayableRow, nowMs: number): Promise<Delivery> {
	const { definitionOf } = await loadKinds();
	const replay = row.kind === null ? undefined : definitionOf(row.kind).replay;
	if (replay === undefined) {
		throw new AdministrationError(
			`the message '${row.id}' is of type ${row.message_type}, which is not replayed; it has to be sent or asked for again`,
		);
	}
	const defaultAuthority = row.default_authority ?? undefined;
	const carried = replay({
		messageType: row.message_type,
		defaultAuthority,
		hl7v2: {
			also: row.also_events ?? [],
			ignore: row.ignore_events ?? [],
			enhancedAck: row.ack_mode === 'enhanced',
			defaultAuthority,
		},
		fhir: { updateCreates: row.update_creates, checkReferences: row.check_references },
	});
	const { site_id: siteId, client_id: clientId, source, bytes, id: replayed } = row;
	// A kind that can be replayed is one that may come by the surface `replay`.
	return {
		...carried,
		id: newId(nowMs),
		siteId,
		clientId,
		surface: 'replay',
		source,
		receivedAtMs: nowMs,
		bytes,
		replayOf: replayed,
	} as Delivery;
}
