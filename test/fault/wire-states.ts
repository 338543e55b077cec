/**
 * Counts the SQLSTATEs of the ErrorResponses that PostgreSQL sends on a connection (PostgreSQL documentation, "Message Formats"). A chunk may end
 * anywhere.
 */
export function wireStates(counts: Map<string, number>): () => (chunk: Buffer) => void {
	return () => {
		let head = Buffer.alloc(0);
		/** Bytes of the message under way that are still to come. */
		let left = 0;
		let error: Buffer[] | undefined;
		const take = (bytes: Buffer): void => {
			error?.push(bytes);
			left -= bytes.length;
			if (left > 0 || error === undefined) return;
			const state = /(?:^|\0)C([0-9A-Z]{5})\0/.exec(Buffer.concat(error).toString('latin1'))?.[1];
			if (state !== undefined) counts.set(state, (counts.get(state) ?? 0) + 1);
			error = undefined;
		};
		return (chunk) => {
			let at = 0;
			while (at < chunk.length) {
				if (left > 0) {
					const part = chunk.subarray(at, at + left);
					at += part.length;
					take(part);
					continue;
				}
				const missing = 5 - head.length;
				const part = chunk.subarray(at, at + missing);
				at += part.length;
				head = Buffer.concat([head, part]);
				if (head.length < 5) continue;
				left = head.readUInt32BE(1) - 4;
				error = head[0] === 0x45 ? [] : undefined;
				head = Buffer.alloc(0);
			}
		};
	};
}
