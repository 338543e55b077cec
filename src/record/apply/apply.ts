import type { Change, ChangeSet, Identifier, MergeChange } from '../change-set.ts';
import type { ApplyContext } from './context.ts';
import { applyDocument, isOutdated } from './document.ts';
import { applyEncounter } from './encounter.ts';
import { applyInstance, applySettlement } from './instance.ts';
import { applyItem } from './item.ts';
import { applyIdentity, applyMerge, applyUnlink } from './merge.ts';
import { applyReport } from './mpps.ts';
import { applyObservation, type ReservedIds } from './observation.ts';
import { applyPatient } from './patient.ts';
import { applyResultReport } from './report.ts';
import { applyReportEdit } from './report-edit.ts';
import { applyResources } from './resource.ts';
import type { Row } from './rows.ts';

/**
 * Applies one message's changes to the working set, all or none.
 * @throws Failure when one of them is refused
 */
export function applyChangeSet(context: ApplyContext, changeSet: ChangeSet): void {
	context.set.attempt(() => {
		const resources = changeSet.changes.filter((change) => change.kind === 'resource');
		if (resources.length > 0) return applyResources(context, resources);
		const references = new References();
		for (const change of changeSet.changes) applyChange(context, current(context, change, changeSet), references);
	});
}

/** Whether a message has to be applied alone: it moves rows by statement, or what it needs is found through what stands in the database. */
export function isAppliedAlone(changeSet: ChangeSet): boolean {
	return changeSet.changes.some(({ kind }) => kind === 'merge' || kind === 'unlink' || kind === 'identity' || kind === 'document');
}

/** A version of a document that was replaced before does not update its patient. */
function current({ set }: ApplyContext, change: Change, { changes }: ChangeSet): Change {
	if (change.kind !== 'patient' || change.known === 'keep') return change;
	const document = changes.find((other) => other.kind === 'document' && other.patient === change.ref);
	return document?.kind === 'document' && isOutdated(set, document, change) ? { ...change, known: 'keep' } : change;
}

class References {
	readonly #patients = new Map<number, Row>();
	readonly #identifiers = new Map<number, Identifier>();
	readonly #encounters = new Map<number, Row | undefined>();
	readonly reserved: ReservedIds = new Map();

	setPatient(ref: number, row: Row, identifier: Identifier): void {
		this.#patients.set(ref, row);
		this.#identifiers.set(ref, identifier);
	}

	patient(ref: number): Row {
		const row = this.#patients.get(ref);
		if (row === undefined) throw new Error('a change names a patient that comes after it');
		return row;
	}

	identifier(ref: number): Identifier {
		const identifier = this.#identifiers.get(ref);
		if (identifier === undefined) throw new Error('a change names a patient that comes after it');
		return identifier;
	}

	setEncounter(ref: number, row: Row | undefined): void {
		this.#encounters.set(ref, row);
	}

	encounter(ref: number | undefined): Row | undefined {
		return ref === undefined ? undefined : this.#encounters.get(ref);
	}
}

function applyChange(context: ApplyContext, change: Change, references: References): void {
	switch (change.kind) {
		case 'patient':
			references.setPatient(change.ref, applyPatient(context, change), change.identifiers[0]);
			return;
		case 'encounter':
			references.setEncounter(change.ref, applyEncounter(context, change, references.patient(change.patient)));
			return;
		case 'observation':
			applyObservation(context, change, references.patient(change.patient), references.encounter(change.encounter), references.reserved);
			return;
		case 'item':
			applyItem(context, change, references.patient(change.patient), references.encounter(change.encounter));
			return;
		case 'merge':
			applyMergeOf(context, change, references);
			return;
		case 'unlink':
			applyUnlink(context, change);
			return;
		case 'identity':
			applyIdentity(context, change);
			return;
		case 'mpps':
			applyReport(context, change);
			return;
		case 'instance':
			applyInstance(context, change, change.patient === undefined ? undefined : references.patient(change.patient));
			return;
		case 'report':
			applyResultReport(context, change, references.patient(change.patient), references.encounter(change.encounter), references.reserved);
			return;
		case 'report-edit':
			applyReportEdit(context, change);
			return;
		case 'settlement':
			applySettlement(context, change, change.patient === undefined ? undefined : references.patient(change.patient));
			return;
		case 'document':
			applyDocument(context, change, references.patient(change.patient), references.encounter(change.encounter));
			return;
		case 'resource':
			throw new Error('resources are applied together');
	}
}

function applyMergeOf(context: ApplyContext, change: MergeChange, references: References): void {
	const survivor = context.set.row('Patient', references.patient(change.survivor).id);
	if (survivor === undefined) throw new Error('the survivor of a merge is not in the working set');
	applyMerge(context, change, survivor, references.identifier(change.survivor));
}
