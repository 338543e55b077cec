/** The stack of the module's own code, which tells how it was loaded. */
const stack = new Error('loaded').stack ?? '';

export default function loadedBy(): string {
	return stack;
}
