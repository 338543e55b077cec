/** Texts that are remembered. Forgetting them only means that they are read once more. */
const rememberedMax = 4096;

/** Returns a function that remembers its results. It is for texts of addresses, so that a busy caller's is not read anew for each request. */
export function remembering<Result extends object | string>(read: (text: string) => Result): (text: string) => Result {
	const known = new Map<string, Result>();
	return (text) => {
		const held = known.get(text);
		if (held !== undefined) return held;
		if (known.size >= rememberedMax) known.clear();
		const result = read(text);
		known.set(text, result);
		return result;
	};
}
