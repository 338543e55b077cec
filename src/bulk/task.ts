import type { MessagePort } from 'node:worker_threads';
import type { ResourceType } from '#record/table-shape.ts';
import type { JobKey } from '#storage/bulk-jobs.ts';

/** What crosses between the main thread and a bulk worker. Every task has a port of its own for what happens meanwhile. */
export type BulkTask = ExportTask | ImportTask;

export interface ExportTask {
	kind: 'export';
	job: JobKey;
	/** Where the files go; it exists. */
	directory: string;
	types: readonly ResourceType[];
	/** Only what has changed later than this. */
	sinceMs: number | undefined;
	/** Only patients and what is about a patient. */
	patientsOnly: boolean;
	/** FHIR base URL of attachments. */
	base: string;
	/** The worker says `ExportProgress`, the main thread `stop`. */
	port: MessagePort;
}

export interface ExportProgress {
	type: ResourceType;
	bytes: number;
}

export interface ExportedType {
	type: ResourceType;
	count: number;
}

export type ExportResult =
	| { kind: 'exported'; momentMs: number; output: ExportedType[] }
	| { kind: 'stopped' }
	| { kind: 'unavailable' }
	| { kind: 'no-room' };

/** Part of the file of an import, from line to line. */
export interface LineRange {
	/** In bytes of the file. */
	start: number;
	end: number;
	/** Number of its first line, from 1. */
	line: number;
	/** It is one line, and longer than a line may be. */
	isTooLong?: true;
}

export interface ImportTask {
	kind: 'import';
	job: JobKey;
	path: string;
	ranges: readonly LineRange[];
	/** Patients are imported first, so that whatever is about them finds them. */
	part: 'patients' | 'others';
	/** Whether a Patient that is referred to has to be there. */
	checkReferences: boolean;
	/** FHIR base URL of this service. */
	base: string;
	/** Row ids of patients that come with later chunks of this part. Undefined: whoever refers to one that is not there waits. */
	expected: readonly string[] | undefined;
	/** The main thread says `Go` when the chunk before is committed. */
	port: MessagePort;
}

/** `stop`: the import ends. */
export type Go = 'go' | 'stop';

export interface TypeCounts {
	created: number;
	updated: number;
	/** The same content as before: no new version. */
	unchanged: number;
}

/** A patient that refers to patients who may come with a later line. */
export interface WaitingLine {
	range: LineRange;
	rowId: string;
	/** Row ids of the patients that are not there. */
	missing: readonly string[];
}

export type ImportResult =
	| {
			kind: 'settled';
			/** Lines of this part, settled or waiting. */
			lines: number;
			/** Whether the chunk holds lines of the other part, too. */
			hasOthers: boolean;
			counts: Partial<Record<ResourceType, TypeCounts>>;
			refused: number;
			/** An OperationOutcome for each line that was refused, as NDJSON. */
			outcomes: Uint8Array;
			waiting: WaitingLine[];
	  }
	/** The job was cancelled: the chunk has not happened. */
	| { kind: 'cancelled' }
	| { kind: 'stopped' }
	| { kind: 'unavailable' };
