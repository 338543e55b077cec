/** A label whose values are not listed here but cannot grow without bound; the text says what bounds them. */
export interface BoundedLabel {
	readonly boundedBy: string;
}
export type LabelDomain = readonly string[] | BoundedLabel;

export interface MetricDefinition {
	/** Ends in the unit: `_seconds`, `_bytes`, `_messages`; counters in `_total`. */
	name: string;
	kind: 'counter' | 'gauge' | 'histogram';
	help: string;
	labels: Readonly<Record<string, LabelDomain>>;
	buckets?: readonly number[];
}

/** From a commit on a fast disk to the time after which a sender gives up. */
export const latencySeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
