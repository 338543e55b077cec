/** Waits for a condition that other parts of the service bring about. So long that only what never comes about fails on a busy machine. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string, triesMax = 1600): Promise<void> {
	for (let tries = 0; tries < triesMax; tries++) {
		if (await condition()) return;
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
	throw new Error(`${what} did not come about`);
}
