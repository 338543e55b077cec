import { newId, nilId } from '#core/id.ts';
import { silentLog } from '#core/log.ts';
import { tableShapes } from '#fhir/resources/index.ts';
import { Batch } from '#ingest/batch.ts';
import type { Interpret } from '#ingest/interpretation.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { Delivery, Hl7v2Delivery, ReplyTo } from '#record/delivery.ts';
import type { Change } from '#record/kinds/index.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { AuthorityCache } from '#storage/authorities.ts';
import type { Connection } from '#storage/connection.ts';
import { WorkerDatabase } from '#storage/database.ts';
import type { Foresight } from '#storage/foresight.ts';
import { ReadSet } from '#storage/read-set.ts';
import { WriteSet } from '#storage/write-set.ts';
import { defaultLimits } from '../../src/limits.ts';

/** A format of the tests' own: the bytes are the JSON of a control id and a change-set. */
export const interpretChangeSet: Interpret = (delivery) => {
	const { controlId, changes } = JSON.parse(Buffer.from(delivery.bytes).toString()) as { controlId: string; changes: Change[] };
	const changeSet: ChangeSet = { changes, flags: [] };
	return {
		messageType: 'TEST',
		controlId,
		verdict: { kind: 'apply', changeSet },
		logged: 'always',
		answer: (outcome, failure) => ({ acknowledgements: [Buffer.from(`${outcome}|${controlId}|${failure?.diagnostics ?? ''}`)] }),
	};
};

export function delivery(siteId: string, controlId: string, changes: Change[], extra: Partial<Hl7v2Delivery> = {}): Hl7v2Delivery {
	return {
		id: newId(),
		kind: 'hl7v2',
		siteId,
		clientId: nilId,
		surface: 'mllp',
		source: '127.0.0.1',
		receivedAtMs: Date.now(),
		bytes: Buffer.from(JSON.stringify({ controlId, changes })),
		settings: {},
		...extra,
	};
}

/** Processes batches as a worker does, on one connection. */
export class BatchRunner implements AsyncDisposable {
	readonly connection: Connection;
	readonly #readSet = new ReadSet(tableShapes);
	readonly #writeSet = new WriteSet(tableShapes, defaultLimits.compactTextMin);
	readonly #authorities = new AuthorityCache();
	readonly #interpret: Interpret;
	readonly #foresight: Foresight | undefined;

	constructor(databaseUrl: string, interpret: Interpret = interpretChangeSet, foresight?: Foresight) {
		this.#foresight = foresight;
		this.connection = new WorkerDatabase(databaseUrl, defaultLimits).lane();
		this.#interpret = interpret;
	}

	async process<Sent extends Delivery>(deliveries: readonly Sent[]): Promise<ReplyTo<Sent>[]> {
		const batch = new Batch({
			connection: this.connection,
			readSet: this.#readSet,
			writeSet: this.#writeSet,
			authorities: this.#authorities,
			...(this.#foresight && { foresight: this.#foresight }),
			interpret: this.#interpret,
			clock: { nowMs: () => Date.now() },
			log: silentLog,
			patienceMs: defaultLimits.unavailableMsMax,
		});
		return (await batch.process(deliveries)).replies as ReplyTo<Sent>[];
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.connection.close();
	}
}

export function identifier(value: string, system = 'urn:id:MRN'): Identifier {
	return { system, value };
}

export function patientChange(
	value: string,
	elements: Record<string, string> = {},
	known: 'update' | 'keep' = 'update',
	ref = 0,
): PatientChange {
	const id = identifier(value);
	return { kind: 'patient', ref, identifiers: [id], patch: { elements, parts: { identifier: { 'PID-3': [id] } } }, known, sequence: 1 };
}

export function observationChange(order: string, item: string, value: string, patient = 0): Change {
	return {
		kind: 'observation',
		patient,
		order: { system: 'urn:id:LAB', value: order },
		item,
		resource: { status: 'final', code: { coding: [{ code: item }] }, valueString: value },
		sequence: 1,
	};
}

/** A report that names a study by its UID. */
export function diagnosticReportChange(studyUid: string, patient = 0): Change {
	return {
		kind: 'diagnostic-report',
		patient,
		observations: { items: [] },
		status: 'final',
		resource: { code: { text: 'CT' } },
		study: { uid: studyUid, accession: undefined, filler: undefined },
		sequence: 1,
	};
}

/** A condition that is stated with an onset, or withdrawn. */
export function itemChange(item: string, onset: string | undefined, patient = 0): Change {
	const target = { kind: 'item', resourceType: 'Condition', patient, item } as const;
	if (onset === undefined) return { ...target, patch: { elements: { recordedDate: '2024' }, parts: {} }, unknown: 'ignore' };
	const initial = { elements: { code: { text: item } }, parts: {} };
	return { ...target, patch: { elements: { onsetDateTime: onset }, parts: {} }, initial, unknown: 'create' };
}

export function mergeChange(survivor: number, prior: string): Change {
	return { kind: 'merge', survivor, prior: [identifier(prior)], sequence: 1 };
}

/** A version of a document, which states conditions of the patient. */
export function documentChange(set: string, version: number, items: readonly string[], patient = 0): Change {
	const key = `${set}.${version}`;
	return {
		kind: 'document',
		patient,
		key,
		set: { key: set, version },
		statedAt: `2026-01-0${version}T00:00:00.000Z`,
		relations: [],
		resource: { content: [{ attachment: { contentType: 'text/xml' } }] },
		bytes: [null],
		isShared: false,
		entries: items.map((item) => ({ resourceType: 'Condition', item, resource: { code: { text: item }, recordedDate: `202${version}` } })),
		study: { uid: undefined, accession: undefined, filler: undefined },
		expression: '/ClinicalDocument/id',
	};
}
