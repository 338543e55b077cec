/** There is nothing to read from, and nothing was made. */
export class MissingDatabaseError extends Error {
	override readonly name = 'MissingDatabaseError';
}
