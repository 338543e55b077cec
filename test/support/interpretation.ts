import assert from 'node:assert/strict';
import { newId, nilId } from '#core/id.ts';

import { silentLog } from '#core/log.ts';
import { bundledLibrary } from '#fhir/profiles/bundled-source.ts';
import type { InterpretContext } from '#ingest/kinds/definition.ts';
import { definitionOf, interpretDelivery } from '#ingest/kinds/index.ts';
import { digestOf, type Prepared, repliesOf } from '#ingest/prepared.ts';
import { settle } from '#ingest/settlement.ts';
import { WorkingSet } from '#record/apply/working-set.ts';
import type { Delivery, ReplyTo } from '#record/delivery.ts';
import type { AcceptedMessage, LoggedMessage } from '#storage/message-log.ts';
import { defaultLimits } from '../../src/limits.ts';

export const nowMs = Date.UTC(2026, 0, 31, 12, 0, 5, 7);

/** Reads deliveries as a worker does that has no store of files. */
export const interpretContext: InterpretContext = {
	limits: defaultLimits,
	clock: { nowMs: () => nowMs },
	log: silentLog,
	hostTimeZone: 'UTC',
	libraryOf: () => bundledLibrary(),
	placeObject: () => assert.fail('the objects lie in the store'),
	isDurable: () => assert.fail('the objects lie in the store'),
};

const siteId = newId(nowMs);

/** Every delivery carries this beside its kind, its surface and its bytes. All are of one site. */
export function carried() {
	return { id: newId(nowMs), siteId, clientId: nilId, source: '192.0.2.1', receivedAtMs: nowMs, settings: { time_zone: 'UTC' } };
}

export interface Taken<Sent extends Delivery> {
	reply: ReplyTo<Sent>;
	logged: LoggedMessage[];
}

/** A site in memory that takes deliveries one after the other, as a batch does that is never written. */
export class MemoryBatch {
	readonly #set = new WorkingSet();
	readonly #accepted = new Map<string, AcceptedMessage[]>();
	#sequence = 0n;

	take<Sent extends Delivery>(delivery: Sent, context: InterpretContext = interpretContext): Taken<Sent> {
		const read = interpretDelivery(delivery, context);
		const whole = 'parts' in read ? read : undefined;
		const prepared = ('parts' in read ? read.parts : [read]).map((interpretation): Prepared => {
			const digest = definitionOf(delivery.kind).recognisedBy === 'delivery' ? delivery.id : digestOf(delivery.bytes);
			return {
				delivery,
				index: 0,
				digest,
				interpretation,
				whole,
				poison: undefined,
				loggedAs: 'whole',
				reply: undefined,
				placing: undefined,
			};
		});
		const settled = prepared.map((message) => {
			const one = settle(message, {
				accepted: this.#accepted,
				set: this.#set,
				sequence: ++this.#sequence,
				lastUpdated: new Date(nowMs).toISOString(),
				onBug: (error) => assert.fail(error as Error),
			});
			message.reply = one.reply;
			return one;
		});
		const [reply] = repliesOf(prepared);
		assert.ok(reply);
		return { reply: reply as ReplyTo<Sent>, logged: settled.flatMap(({ logged }) => (logged === undefined ? [] : [logged])) };
	}
}

/** The acknowledgements of a logged message as text. */
export function loggedAcks({ logged }: { logged: readonly LoggedMessage[] }): string[] {
	return logged.flatMap(({ acks }) => acks.map((ack) => Buffer.from(ack).toString()));
}
