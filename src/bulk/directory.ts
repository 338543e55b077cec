import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUuid, namedId, newId } from '#core/id.ts';
import { processesMax } from '#core/place.ts';
import type { BulkKind } from '#storage/bulk-jobs.ts';

const folders: Readonly<Record<BulkKind, string>> = { export: 'exports', import: 'imports' };

/** The files of a node's exports and imports, in a folder under DATA_DIR for each job. Only the service's user can read them. */
export class BulkDirectory {
	readonly #dataDir: string;

	constructor(dataDir: string) {
		this.#dataDir = dataDir;
		for (const folder of Object.values(folders)) mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 });
	}

	/**
	 * Returns the ids by which the jobs of the node's processes are told apart, by the place of the process. They stay the same after a restart on
	 * the same DATA_DIR. The first one is the id of the node.
	 */
	processIds(): string[] {
		const nodeId = this.nodeId();
		// A node that has fewer processes now may have jobs of more.
		return Array.from({ length: processesMax }, (_, place) => (place === 0 ? nodeId : namedId(`${nodeId} ${place}`)));
	}

	/** Returns the id of this node. */
	nodeId(): string {
		const path = join(this.#dataDir, 'node-id');
		try {
			writeFileSync(path, newId(), { flag: 'wx' });
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		}
		const id = readFileSync(path, 'utf8').trim();
		if (!isUuid(id)) throw new Error(`${path} does not contain the id of this node`);
		return id;
	}

	of(kind: BulkKind, jobId: string): string {
		return join(this.#dataDir, folders[kind], jobId);
	}

	create(kind: BulkKind, jobId: string): string {
		const path = this.of(kind, jobId);
		mkdirSync(path, { mode: 0o700 });
		return path;
	}

	remove(kind: BulkKind, jobId: string): void {
		rmSync(this.of(kind, jobId), { recursive: true, force: true });
	}

	/** Returns the jobs that have a folder. Imports by the command line keep their journals beside these folders. */
	jobs(): { kind: BulkKind; id: string }[] {
		return (Object.keys(folders) as BulkKind[]).flatMap((kind) =>
			readdirSync(join(this.#dataDir, folders[kind]))
				.filter(isUuid)
				.map((id) => ({ kind, id })),
		);
	}
}

/** Returns the file of a job's folder for the resources of a type. */
export function fileOf(directory: string, type: string): string {
	return join(directory, `${type}.ndjson`);
}

/** Returns the file with the body of an import. */
export function bodyOf(directory: string): string {
	return join(directory, 'body');
}
