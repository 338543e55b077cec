import { type AsyncHook, createHook } from 'node:async_hooks';

/**
 * Lets node:test follow promises only as long as it has to. By a hook on all asynchronous resources it tells to which suite a test belongs
 * where it is defined, and to which test an uncaught error belongs. With that hook an awaited promise costs fifteen times as much (Node.js
 * 22: 1.5 instead of 0.1 µs).
 *
 * To be imported before the first test is defined.
 */

const hooks = new Set<AsyncHook>();
const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook;
const { enable } = prototype;

prototype.enable = function (this: AsyncHook): AsyncHook {
	if (new Error().stack?.includes('node:internal/test_runner')) hooks.add(this);
	return enable.call(this);
};

/** Ends it once all tests are defined. An uncaught error then fails the process instead of a test. */
export function followNoMore(): void {
	for (const hook of hooks) hook.disable();
}
