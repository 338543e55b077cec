import type { Hl7Answer, Hl7v3Delivery, Reply } from '#record/delivery.ts';

/** A delivery without content: `a1` is the first message of site a, and so many bytes long. */
export function delivery(name: string, bytes = 1): Hl7v3Delivery {
	return {
		id: name,
		kind: 'hl7v3',
		siteId: name.slice(0, 1),
		clientId: 'client',
		surface: 'hl7-http',
		source: 'test',
		receivedAtMs: 0,
		bytes: new Uint8Array(bytes),
		settings: {},
	};
}

export function replyTo({ id }: { id: string }): Reply<Hl7Answer> {
	return { id, outcome: 'accepted', messageType: '', controlId: '', answer: { acknowledgements: [] }, flags: [] };
}

/** Who is told what: `a1 accepted`, `b2 unavailable`. */
export class Told {
	readonly all: string[] = [];

	watch(name: string, reply: Promise<Reply>): void {
		reply.then(
			({ outcome }) => this.all.push(`${name} ${outcome}`),
			(error: Error) => this.all.push(`${name} ${'code' in error ? String(error.code) : error.message}`),
		);
	}

	/** What was told since the last time. */
	take(): string[] {
		return this.all.splice(0);
	}
}
