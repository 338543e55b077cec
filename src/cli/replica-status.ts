import { hostAndPort } from '#core/host-and-port.ts';
import type { ReplicaCondition } from '#storage/replica/replica-watch.ts';
import type { RuntimeFile } from '#storage/runtime-file.ts';

const answerMsMax = 2000;

/** Asks the running service how the replica of DATABASE_READ_URL is. @returns undefined if the service does not say */
export async function replicaOf({ surfaces: { ops } }: RuntimeFile): Promise<ReplicaCondition | undefined> {
	if (ops === undefined) return undefined;
	try {
		const answer = await fetch(`http://${hostAndPort(ops)}/health/ready`, { signal: AbortSignal.timeout(answerMsMax) });
		return ((await answer.json()) as { replica?: ReplicaCondition }).replica;
	} catch {
		// The addresses of a service that does not answer are worth showing all the same.
		return undefined;
	}
}

const texts: Record<ReplicaCondition['state'], string> = {
	current: 'answers reads',
	late: 'is too far behind: the primary answers reads',
	away: 'does not answer: the primary answers reads',
	other: 'is no standby of the primary, which answers reads',
};

export function replicaText({ state, lag_ms, lag_bytes }: ReplicaCondition): string {
	return `the replica ${texts[state]}; lag ${(lag_ms / 1000).toFixed(1)} s, ${lag_bytes} bytes`;
}
