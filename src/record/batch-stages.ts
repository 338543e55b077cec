/** The duration of each stage of a batch, and the repetitions. */
export interface BatchStages {
	interpretMs: number;
	readMs: number;
	applyMs: number;
	writeMs: number;
	repeats: number;
	bisections: number;
}
