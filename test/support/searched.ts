interface Searched {
	characters: number;
	calls: number;
}

/** How many characters `read` has searched with indexOf, and how often. */
export function searched(read: () => void): Searched {
	const { work, end } = counting();
	try {
		read();
	} finally {
		end();
	}
	return work;
}

/** The same for work that others interrupt. Nothing else may run meanwhile. */
export async function searchedMeanwhile(read: () => Promise<void>): Promise<Searched> {
	const { work, end } = counting();
	try {
		await read();
	} finally {
		end();
	}
	return work;
}

function counting(): { work: Searched; end: () => void } {
	const original = String.prototype.indexOf;
	const work = { characters: 0, calls: 0 };
	String.prototype.indexOf = function (this: string, wanted: string, position = 0): number {
		const found = original.call(this, wanted, position);
		work.calls += 1;
		work.characters += (found === -1 ? this.length : found + 1) - position;
		return found;
	};
	return {
		work,
		end: () => {
			String.prototype.indexOf = original;
		},
	};
}
