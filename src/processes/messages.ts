import type { Place } from '#core/place.ts';
import type { SurfaceAddress } from '#storage/runtime-file.ts';
import type { Config } from '../config.ts';

/** The messages from the parent of a node to a process. */
export type ToProcess =
	| { kind: 'open'; config: Config; place: Place; databaseUrl: string }
	/** The process ends when what is under way is answered. `isRolled`: other processes of the node go on. */
	| { kind: 'drain'; isRolled: boolean };

/** The messages from a process to the parent of its node. */
export type ToParent =
	| ({ kind: 'ready' } & Opened)
	/** The process could not open, and ends. */
	| { kind: 'failed'; reason: string };

export interface Opened {
	surfaces: Record<string, SurfaceAddress>;
	consoleLogin: { email: string; password: string } | undefined;
	/** The HTTP server library that this machine could load, with its version. */
	httpServer: string;
}
