import type { BatchStages } from '#record/batch-stages.ts';
import type { Delivery, Reply } from '#record/delivery.ts';

/** A batch in transit to the worker: the deliveries, and the bytes of all of them in one transferred buffer. */
export interface IngestTask {
	lane: number;
	/** Under which the thread notes its work on this batch: a lane has as many as batches. */
	slot: number;
	/** Tells the batches of a thread apart. */
	number: number;
	/** The batch before it, which may not have ended. Nothing of this one is carried out unless all of that was. */
	follows: number | undefined;
	/** Other sites send to the thread, so the work on the batch is divided into slices. */
	inSlices: boolean;
	deliveries: PackedDelivery[];
	bytes: ArrayBuffer;
}

/** It applies to each kind of delivery separately, so that kind and policy stay together. */
type Packed<T> = T extends Delivery ? Omit<T, 'bytes'> & { length: number } : never;
type PackedDelivery = Packed<Delivery>;

/** `failed`: a fault of this code ended the batch, and the thread goes on. `behind`: not all of the batch before it was carried out. */
export type IngestTaskResult =
	| { kind: 'unavailable' }
	| { kind: 'behind' }
	| { kind: 'failed'; error: unknown }
	| { kind: 'done'; replies: (Reply | undefined)[]; stages: BatchStages };

export function taskOf(place: Omit<IngestTask, 'deliveries' | 'bytes'>, deliveries: readonly Delivery[]): [IngestTask, ArrayBuffer[]] {
	const bytes = joined(deliveries.map((delivery) => delivery.bytes));
	const packed = deliveries.map(({ bytes: message, ...delivery }) => ({ ...delivery, length: message.length }) as PackedDelivery);
	return [{ ...place, deliveries: packed, bytes }, [bytes]];
}

export function deliveriesOf(task: IngestTask): Delivery[] {
	const cut = cutter(task.bytes);
	return task.deliveries.map(({ length, ...delivery }) => ({ ...delivery, bytes: cut(length) }) as Delivery);
}

/**
 * Packs the replies of a batch for the way back. The bytes of all answers are put into one buffer, because a small Buffer is part of a pool
 * and its
 * clone would copy the whole pool.
 */
export function resultOf(replies: readonly (Reply | undefined)[], stages: BatchStages): IngestTaskResult {
	const parts: Uint8Array[] = [];
	for (const reply of replies) if (reply) gatherBytes(reply.answer, parts);
	const cut = cutter(joined(parts));
	const packed = replies.map((reply) => reply && { ...reply, answer: withBytes(reply.answer, cut) as Reply['answer'] });
	return { kind: 'done', replies: packed, stages };
}

function gatherBytes(value: unknown, parts: Uint8Array[]): void {
	if (value instanceof Uint8Array) parts.push(value);
	else if (Array.isArray(value)) for (const part of value) gatherBytes(part, parts);
	else if (isObject(value)) for (const name in value) gatherBytes(value[name], parts);
}

/** Returns the value with the parts that `gatherBytes` finds in it taken from the joined bytes, in the same order. */
function withBytes(value: unknown, cut: (length: number) => Uint8Array): unknown {
	if (value instanceof Uint8Array) return cut(value.length);
	if (Array.isArray(value)) return value.map((part) => withBytes(part, cut));
	if (!isObject(value)) return value;
	const copy: Record<string, unknown> = {};
	for (const name in value) copy[name] = withBytes(value[name], cut);
	return copy;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null;
}

function joined(parts: readonly Uint8Array[]): ArrayBuffer {
	const bytes = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
	let offset = 0;
	for (const part of parts) {
		bytes.set(part, offset);
		offset += part.length;
	}
	return bytes.buffer;
}

function cutter(bytes: ArrayBuffer): (length: number) => Buffer {
	let offset = 0;
	return (length) => {
		const part = Buffer.from(bytes, offset, length);
		offset += length;
		return part;
	};
}
