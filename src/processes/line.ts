/** The questions that one end of a line may ask, by name: what they are given, and what they are answered. */
export type Questions = Readonly<Record<string, { given: unknown; answer: unknown }>>;

export type LineMessage =
	| { kind: 'question'; id: number; name: string; given: unknown }
	| { kind: 'answer'; id: number; answer: unknown; failed: boolean };

export type Answers<Q extends Questions> = {
	readonly [Name in keyof Q]: (given: Q[Name]['given']) => Q[Name]['answer'] | Promise<Q[Name]['answer']>;
};

interface Awaited {
	resolve(answer: unknown): void;
	reject(error: Error): void;
}

/** Questions and answers between the parent of a node and one of its processes. */
export class Line<Asked extends Questions, Answered extends Questions> {
	readonly #send: (message: LineMessage) => void;
	readonly #answers: Answers<Answered>;
	readonly #awaited = new Map<number, Awaited>();
	#last = 0;
	#isClosed = false;

	constructor(send: (message: LineMessage) => void, answers: Answers<Answered>) {
		this.#send = send;
		this.#answers = answers;
	}

	/** Rejects when the other end is gone, cannot answer, or takes longer than `withinMs`. */
	ask<Name extends keyof Asked & string>(name: Name, given: Asked[Name]['given'], withinMs: number): Promise<Asked[Name]['answer']> {
		if (this.#isClosed) return Promise.reject(new Error('the other end of the line is gone'));
		const id = ++this.#last;
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => settle(() => reject(new Error(`no answer to '${name}' within ${withinMs} ms`))), withinMs);
			timer.unref();
			const settle = (settled: () => void) => {
				clearTimeout(timer);
				this.#awaited.delete(id);
				settled();
			};
			this.#awaited.set(id, {
				resolve: (answer) => settle(() => resolve(answer)),
				reject: (error) => settle(() => reject(error)),
			});
			this.#send({ kind: 'question', id, name, given });
		});
	}

	/** Takes a message of the other end. */
	take(message: LineMessage): void {
		if (message.kind === 'question') void this.#answer(message);
		else if (message.failed) this.#awaited.get(message.id)?.reject(new Error('the question could not be answered'));
		else this.#awaited.get(message.id)?.resolve(message.answer);
	}

	async #answer({ id, name, given }: Extract<LineMessage, { kind: 'question' }>): Promise<void> {
		try {
			const answer = await this.#answers[name]?.(given);
			this.#send({ kind: 'answer', id, answer, failed: false });
		} catch {
			// Whoever asked says what that means.
			this.#send({ kind: 'answer', id, answer: undefined, failed: true });
		}
	}

	/** The other end is gone. */
	close(): void {
		this.#isClosed = true;
		for (const { reject } of [...this.#awaited.values()]) reject(new Error('the other end of the line is gone'));
	}
}
