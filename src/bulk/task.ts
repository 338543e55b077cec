import type { MessagePort } from 'node:worker_threads';
import type { Clause } from '#record/search-plan.ts';
import type { SettingValue } from '#record/settings/settings.ts';
import type { ResourceType } from '#record/table-shape.ts';
import type { JobKey } from '#storage/bulk-jobs.ts';
import type { PatientScope } from '#storage/export-patients.ts';
import { noDefinitions } from '#storage/site-definitions.ts';

/** Messages between the main thread and a bulk worker. Every task has a port of its own for messages during the task. */
export type BulkTask = ExportTask | ImportTask;

export interface ExportTask {
	kind: 'export';
	job: JobKey;
	/** The folder for the files; it exists. */
	directory: string;
	types: readonly ResourceType[];
	/** Limits the export to resources that changed later than this. */
	sinceMs: number | undefined;
	/** Limits the export to patients and the resources about them. */
	patientsOnly: boolean;
	/** Limits it to some patients. */
	scope: PatientScope;
	/** The conditions of `_typeFilter`, for the types that have any. */
	filters: Partial<Record<ResourceType, Clause>>;
	/** The elements of `_elements`, for the types of which not all are wanted. */
	elements: Partial<Record<ResourceType, readonly string[]>>;
	/** FHIR base URL of attachments. */
	base: string;
	/** The worker sends `ExportProgress`, the main thread sends `stop`. */
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
	| { kind: 'exported'; momentMs: number; output: ExportedType[]; deleted: number }
	| { kind: 'stopped' }
	| { kind: 'unavailable' }
	| { kind: 'no-room' };

/** A part of the file of an import, from line to line. */
export interface LineRange {
	/** Byte offsets in the file. */
	start: number;
	end: number;
	/** The number of its first line, from 1. */
	line: number;
	/** True when it is a single line that is too long. */
	isTooLong?: true;
}

export interface ImportTask {
	kind: 'import';
	job: JobKey;
	path: string;
	ranges: readonly LineRange[];
	/** Patients are imported first, so that the resources about them find them. */
	part: 'patients' | 'others';
	/** True when a Patient in a reference must exist. */
	checkReferences: boolean;
	/** See FhirPolicy. */
	mergedReferences?: SettingValue<'merged_references'> | undefined;
	/** See LineSettings. */
	reportWrites?: boolean | undefined;
	/** Says how a Patient is treated whose new content is another person's. */
	mismatch: SettingValue<'mismatch'>;
	/** Says whether the profiles that a resource claims are checked. */
	profiles: SettingValue<'profiles'>;
	/** The number of the state of the site's own profiles and terms. */
	definitionsVersion: string;
	/** FHIR base URL of this service. */
	base: string;
	/** Row ids of patients that come with later chunks of this part. Undefined means that a resource waits if its patient does not exist. */
	expected: readonly string[] | undefined;
	/** Lines that took too much processor time before. They are refused. */
	tooCostly: readonly number[];
	/** The worker notes the line at work here; see LineNotes. */
	notes: SharedArrayBuffer;
	/** The main thread sends `Go` when the previous chunk is committed. */
	port: MessagePort;
}

/** Tells whether the lines are checked against profiles that the site has loaded, whose expressions nobody here has seen. */
export function checksOwnProfiles({ profiles, definitionsVersion }: Pick<ImportTask, 'profiles' | 'definitionsVersion'>): boolean {
	return profiles !== 'off' && definitionsVersion !== noDefinitions;
}

/** `stop` ends the import. */
export type Go = 'go' | 'stop';

export interface TypeCounts {
	created: number;
	updated: number;
	/** The number of lines with unchanged content, which make no new version. */
	unchanged: number;
}

/** A patient that refers to patients that may come with a later line. */
export interface WaitingLine {
	range: LineRange;
	rowId: string;
	/** Row ids of the patients that do not exist. */
	missing: readonly string[];
}

export type ImportResult =
	| {
			kind: 'settled';
			/** The number of lines of this part, settled or waiting. */
			lines: number;
			/** True when the chunk also holds lines of the other part. */
			hasOthers: boolean;
			counts: Partial<Record<ResourceType, TypeCounts>>;
			refused: number;
			/** An OperationOutcome for each refused line, as NDJSON. */
			outcomes: Uint8Array;
			/** The number of lines that were stored although they do not conform to the profiles that they claim, and what is told of them. */
			warned: number;
			warnings: Uint8Array;
			waiting: WaitingLine[];
	  }
	/** The job was cancelled: nothing of the chunk was written. */
	| { kind: 'cancelled' }
	| { kind: 'stopped' }
	| { kind: 'unavailable' };
