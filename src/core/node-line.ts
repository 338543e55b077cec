import type { MetricSnapshot } from './metric-snapshot.ts';

/** A reading of the live figures of a process, or of its node. */
export interface Reading {
	atMs: number;
	metrics: readonly MetricSnapshot[];
	/** The number of waiting messages by site id. */
	waiting: ReadonlyMap<string, number>;
	storage: StorageRead;
}

/** The last reading of the storage found this. */
export interface StorageRead {
	/** The slugs of sites by id. */
	slugs: ReadonlyMap<string, string>;
	/** Undefined until it could be read. */
	used: StorageUsed | undefined;
}

export interface StorageUsed {
	databaseBytes: number;
	/** The bytes of images by site slug. */
	imageBytes: ReadonlyMap<string, number>;
}

/** A process gives this to the live figures of its node. */
export interface FigureSource {
	/** Measures this process. */
	measure(): Promise<Reading>;
	/** Takes the figures of the node. */
	take(reading: Reading): Promise<void>;
	/** Everything that was taken in the last hour, in a form that another process can adopt. */
	history(): unknown;
}

/** A process asks the other processes of its node through this, by way of their parent. A node of one process has none. */
export interface NodeLine {
	/** Returns the metrics of the node. Rejects when the parent is gone. */
	metrics(): Promise<readonly MetricSnapshot[]>;
	/** Has the parent take the live figures of the node from here on; returns the history of another process, if one has it. */
	joinFigures(source: FigureSource): Promise<unknown>;
	quotas: Quotas;
}

/** Limits of the node that its processes share. */
export interface Quotas {
	/** Takes one of `most` by this name; false when all are taken. */
	take(name: string, most: number): boolean | Promise<boolean>;
	give(name: string): void;
}

/** The limits of a node of one process. */
export class OwnQuotas implements Quotas {
	readonly #taken = new Map<string, number>();

	take(name: string, most: number): boolean {
		const taken = this.#taken.get(name) ?? 0;
		if (taken >= most) return false;
		this.#taken.set(name, taken + 1);
		return true;
	}

	give(name: string): void {
		const taken = (this.#taken.get(name) ?? 0) - 1;
		if (taken > 0) this.#taken.set(name, taken);
		else this.#taken.delete(name);
	}
}
