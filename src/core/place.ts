/** The place of a process in its node. A node is one process, or several on the same ports. */
export interface Place {
	/** From 0. */
	readonly index: number;
	/** The processes of the node. */
	readonly count: number;
	/** True if no other process of the node runs yet. What an earlier run of the node left behind is then nobody's, and is cleared away. */
	readonly opensNode: boolean;
	/** True for one process of a start or of a roll, which brings the schema up to date. */
	readonly migrates: boolean;
}

/** The largest PROCESSES. */
export const processesMax = 64;

export const alone: Place = { index: 0, count: 1, opensNode: true, migrates: true };
