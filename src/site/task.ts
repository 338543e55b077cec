import type { Delivery, Reply } from '#record/delivery.ts';

/** A batch as it crosses to the worker: the deliveries, and the bytes of all of them in one transferred buffer. */
export interface IngestTask {
	lane: number;
	deliveries: PackedDelivery[];
	bytes: ArrayBuffer;
}

type PackedDelivery = Omit<Delivery, 'bytes'> & { length: number };

export type IngestTaskResult =
	| { kind: 'unavailable' }
	| {
			kind: 'done';
			replies: Reply[];
			stages: { interpretMs: number; readMs: number; applyMs: number; writeMs: number; repeats: number; bisections: number };
	  };

export function taskOf(lane: number, deliveries: readonly Delivery[]): [IngestTask, ArrayBuffer[]] {
	const bytes = new Uint8Array(deliveries.reduce((total, delivery) => total + delivery.bytes.length, 0));
	let offset = 0;
	const packed = deliveries.map(({ bytes: message, ...delivery }) => {
		bytes.set(message, offset);
		offset += message.length;
		return { ...delivery, length: message.length };
	});
	return [{ lane, deliveries: packed, bytes: bytes.buffer }, [bytes.buffer]];
}

export function deliveriesOf(task: IngestTask): Delivery[] {
	let offset = 0;
	return task.deliveries.map(({ length, ...delivery }) => {
		const bytes = Buffer.from(task.bytes, offset, length);
		offset += length;
		return { ...delivery, bytes };
	});
}
