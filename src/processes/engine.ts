import { collectInOneThread } from '#core/collection.ts';
import { optimiseSooner } from '#core/optimisation.ts';

/** Sets V8 up for a process that serves. It holds for the whole process, so whoever owns that calls it: the command `start`, and each process of a node. */
export function setUpEngine(): void {
	collectInOneThread();
	optimiseSooner();
}
