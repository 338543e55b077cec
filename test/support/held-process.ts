import { after, before } from 'node:test';

/**
 * Keeps the process while the tests of a suite wait for another thread, or for a timer that a service's sockets outlive, since neither keeps it.
 * Call it in the function of the suite.
 */
export function holdProcess(): void {
	let held: NodeJS.Timeout | undefined;
	before(() => {
		held = setInterval(() => undefined, 60_000);
	});
	after(() => clearInterval(held));
}
