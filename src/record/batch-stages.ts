/** The duration of each stage of a batch, and the repetitions. */
export interface BatchStages {
	interpretMs: number;
	readMs: number;
	applyMs: number;
	writeMs: number;
	repeats: number;
	bisections: number;
	/** Begin and end of the whole work, by the clock that all threads of the process share (`steadyMs`). */
	beganMs: number;
	endedMs: number;
	/** The part of `writeMs` from the COMMIT to its answer, to which the statements before it are pipelined. */
	commitMs: number;
}
