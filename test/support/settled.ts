/** Resolves when the value has not changed for a while: whatever fills up is full. */
export async function settled(value: () => number): Promise<number> {
	for (let last = -1, same = 0; ; ) {
		const now = value();
		same = now === last && now > 0 ? same + 1 : 0;
		if (same === 10) return now;
		last = now;
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}
