/** How long the stages of a batch took, and what had to be repeated. */
export interface BatchStages {
	interpretMs: number;
	readMs: number;
	applyMs: number;
	writeMs: number;
	repeats: number;
	bisections: number;
}
