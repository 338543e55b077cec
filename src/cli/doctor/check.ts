import { reasonInWords } from '#storage/reason-in-words.ts';
import type { Config } from '../../config.ts';

/** `fault`: the service does not start, or may lose or refuse something. `warning`: it works, but somebody should look at it. */
export type State = 'ok' | 'warning' | 'fault';

/** The result of one check. */
export interface Finding {
	check: string;
	state: State;
	/** One line, without any secret. */
	text: string;
}

/** The checks look at these. */
export interface Examined {
	config: Config;
	environment: NodeJS.ProcessEnv;
}

export const ok = (check: string, text: string): Finding => ({ check, state: 'ok', text });
export const warning = (check: string, text: string): Finding => ({ check, state: 'warning', text });
export const fault = (check: string, text: string): Finding => ({ check, state: 'fault', text });

/** Runs a check; what it throws is a finding. */
export async function finding(check: string, work: () => Promise<Finding | Finding[]> | Finding | Finding[]): Promise<Finding[]> {
	try {
		return [await work()].flat();
	} catch (error) {
		return [fault(check, reasonOf(error))];
	}
}

/** An AggregateError of a connection that was tried over several addresses has no text of its own. */
export function reasonOf(error: unknown): string {
	if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join(', ');
	const text = reasonInWords(error);
	return (text || String((error as NodeJS.ErrnoException).code ?? 'unknown')).split('\n')[0] ?? '';
}
