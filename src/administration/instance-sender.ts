import type { RetrievalKind } from '#imaging/search.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { ObjectStore } from '#storage/objects/object-store.ts';

/** Instances that are to be sent to a remote AE. */
export interface InstancesToSend {
	/** All kinds that are among them. */
	kinds: readonly RetrievalKind[];
	instances: AsyncIterable<RetrievableInstance>;
	/** Holds their files. */
	objects: Pick<ObjectStore, 'read'>;
}

/** Tells the end of one instance, or why nothing more is sent. Reasons are in words, and name no more of the peer than its title. */
export type InstanceOutcome =
	| { outcome: 'sent' | 'warning' | 'failed'; sopInstanceUid: string; reason: string }
	| { outcome: 'ended'; reason: string };

/** Sends instances by C-STORE, while the outcomes are read. */
export type InstanceSender = (
	target: { title: string; host: string; port: number; tls: boolean },
	callingAe: string,
	toSend: InstancesToSend,
) => AsyncIterable<InstanceOutcome>;
