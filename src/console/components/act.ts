import { useState } from 'preact/hooks';
import { asFailure } from '../answers.ts';
import { say } from './toast.tsx';

/** Carries out what a button asks for. `busy` is true meanwhile, and a failure is said in its words. */
export function useAct(): [busy: boolean, act: (work: () => Promise<void>) => void] {
	const [busy, setBusy] = useState(false);
	const carryOut = async (work: () => Promise<void>) => {
		setBusy(true);
		try {
			await work();
		} catch (error) {
			say(asFailure(error).message, 'danger');
		}
		setBusy(false);
	};
	return [busy, (work) => void carryOut(work)];
}
