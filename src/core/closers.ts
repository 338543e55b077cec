/** Closes something that was opened. */
export type Closer = () => Promise<void> | void;

/**
 * Opens something of several parts, each of which adds what closes it. `close` closes them, the last one first. When a later part fails, what
 * was opened is closed again.
 */
export async function openParts<T>(open: (closers: Closer[], close: () => Promise<void>) => Promise<T>): Promise<T> {
	const closers: Closer[] = [];
	const close = async (): Promise<void> => {
		for (const closer of closers.splice(0).reverse()) await closer();
	};
	try {
		return await open(closers, close);
	} catch (error) {
		await close();
		throw error;
	}
}
