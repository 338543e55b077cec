import type { BatchStages } from '#record/batch-stages.ts';
import type { Delivery, Reply } from '#record/delivery.ts';

/** A batch as it crosses to the worker: the deliveries, and the bytes of all of them in one transferred buffer. */
export interface IngestTask {
	lane: number;
	deliveries: PackedDelivery[];
	bytes: ArrayBuffer;
}

/** Of each kind of delivery by itself, so that kind and policy stay together. */
type Packed<T> = T extends Delivery ? Omit<T, 'bytes'> & { length: number } : never;
type PackedDelivery = Packed<Delivery>;
type PackedReply = Omit<Reply, 'acks'> & { lengths: number[] };

export type IngestTaskResult = { kind: 'unavailable' } | { kind: 'done'; replies: PackedReply[]; acks: ArrayBuffer; stages: BatchStages };

export function taskOf(lane: number, deliveries: readonly Delivery[]): [IngestTask, ArrayBuffer[]] {
	const bytes = joined(deliveries.map((delivery) => delivery.bytes));
	const packed = deliveries.map(({ bytes: message, ...delivery }) => ({ ...delivery, length: message.length }) as PackedDelivery);
	return [{ lane, deliveries: packed, bytes }, [bytes]];
}

export function deliveriesOf(task: IngestTask): Delivery[] {
	const cut = cutter(task.bytes);
	return task.deliveries.map(({ length, ...delivery }) => ({ ...delivery, bytes: cut(length) }) as Delivery);
}

export function resultOf(replies: readonly Reply[], stages: BatchStages): IngestTaskResult {
	const acks = joined(replies.flatMap((reply) => reply.acks));
	const packed = replies.map(({ acks: parts, ...reply }) => ({ ...reply, lengths: parts.map((part) => part.length) }));
	return { kind: 'done', replies: packed, acks, stages };
}

export function repliesOf(result: IngestTaskResult & { kind: 'done' }): Reply[] {
	const cut = cutter(result.acks);
	return result.replies.map(({ lengths, ...reply }) => ({ ...reply, acks: lengths.map((length) => cut(length)) }));
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
