import { begun, type RederivationProgress, type RederivationZone } from '#record/rederivation.ts';

/** The run keeps this of a rederivation. */
export interface RederivationTask {
	zone: RederivationZone;
	/** The holder of the setting. */
	of: 'site' | 'client' | 'key';
	/** Its id; of a site the slug. */
	subject: string;
	isPreview: boolean;
}

/** The counts of resources by type stand when the run has ended. */
export interface RunProgress extends RederivationProgress {
	/** Messages that may have to be read anew; null when they are too many to be counted. */
	total: number | null;
	changed?: Readonly<Record<string, number>>;
	stayed?: Readonly<Record<string, number>>;
}

export const firstProgress: RunProgress = { ...begun, total: null };
