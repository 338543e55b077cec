import { createHash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import { isAppliedAlone } from '#record/apply/apply.ts';
import { documentKeys } from '#record/apply/document.ts';
import type { MppsResult } from '#record/apply/mpps.ts';
import { SiteKeys } from '#record/apply/site-keys.ts';
import type { Change, ChangeSet, DocumentChange, ReportChange, ResourceChange } from '#record/change-set.ts';
import type { Delivery, Reply } from '#record/delivery.ts';
import { diagnosticReports } from '#record/holdings/diagnostic-reports.ts';
import { documents } from '#record/holdings/documents.ts';
import { imaging, nameInstance } from '#record/holdings/imaging.ts';
import { items } from '#record/holdings/items.ts';
import { orderKey, orders } from '#record/holdings/orders.ts';
import { identifierLengthMax, patientIdentifiers } from '#record/holdings/patient-identifiers.ts';
import { procedureSteps } from '#record/holdings/procedure-steps.ts';
import { visitKey, visits } from '#record/holdings/visits.ts';
import { rowIdOf } from '#record/row-id.ts';
import type { Interpretation, PartedInterpretation } from './interpretation.ts';

/** A delivery on its way through a batch. */
export interface Prepared {
	delivery: Delivery;
	/** What it is recognised by when it comes again, beside its control id; empty without one. */
	digest: string;
	interpretation: Interpretation;
	/** The delivery that this is a part of; its parts stand next to one another. */
	whole: PartedInterpretation | undefined;
	/** Set when the database refused the message's rows, or its object was not placed: it is logged as refused, whatever its interpretation. */
	poison: Failure | undefined;
	/** Resolves when the interpretation's `place` has ended; the message is poisoned then if it failed. */
	placing: Promise<void> | undefined;
}

/** The first 128 bits of the SHA-256 of the bytes, written as a UUID: PostgreSQL's smallest type that holds them. */
export function digestOf(bytes: Uint8Array): string {
	const hex = createHash('sha256').update(bytes).digest('hex');
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Places what the messages of a segment need, each once however often the batch is tried. Never rejects. */
export async function placeAll(segment: readonly Prepared[]): Promise<void> {
	await Promise.all(segment.map((message) => (message.placing ??= place(message))));
}

async function place(message: Prepared): Promise<void> {
	const { interpretation } = message;
	if (interpretation.place === undefined || changeSetOf(message) === undefined) return;
	try {
		await interpretation.place();
	} catch (error) {
		message.poison = error instanceof Failure ? error : new Failure('internal', 'the object could not be stored', { cause: error });
	}
}

export function changeSetOf(message: Prepared): ChangeSet | undefined {
	const { verdict } = message.interpretation;
	return message.poison === undefined && verdict.kind === 'apply' ? verdict.changeSet : undefined;
}

/**
 * Values of the business identifiers of whom the message is about, by which the message log is searched: that of the (first) patient,
 * and the one that is merged into it or told apart from it.
 */
export function patientsOf({ interpretation }: Prepared, sessions: readonly MppsResult[] = []): readonly string[] {
	const { verdict } = interpretation;
	const changes = verdict.kind === 'apply' ? verdict.changeSet.changes : [];
	const named = changes.flatMap((change) => {
		if (change.kind === 'patient') return [change.identifiers[0].value];
		if (change.kind === 'unlink') return [change.first[0].value, change.second[0].value];
		return [];
	});
	const prior = changes.find((change) => change.kind === 'merge')?.prior[0].value;
	const performed = sessions.flatMap(({ session }) => session.facts?.patientId ?? []);
	const stated = named.length === 0 ? (interpretation.patients ?? performed) : named;
	const distinct = [...new Set(stated)].filter((value) => value !== '' && value.length <= identifierLengthMax);
	const other = prior ?? distinct[1];
	return distinct[0] === undefined || other === undefined || other === distinct[0] ? distinct.slice(0, 1) : [distinct[0], other];
}

/** Whether a message asks for what only a search in the site's turn can tell. */
export function needsLookup(message: Prepared): boolean {
	const changes = changeSetOf(message)?.changes ?? [];
	return changes.some(
		(change) =>
			change.kind === 'resource' && (change.condition !== undefined || change.references.length > 0 || change.interaction === 'patch'),
	);
}

/**
 * Cuts a batch where a message moves rows by statement, is a document, or has to look up what it is about: that message is
 * applied alone, between what is before and after it.
 */
export function segmentsOf(batch: readonly Prepared[]): Prepared[][] {
	const segments: Prepared[][] = [];
	let open: Prepared[] = [];
	for (const message of batch) {
		const changeSet = changeSetOf(message);
		if ((changeSet && isAppliedAlone(changeSet)) || needsLookup(message)) {
			if (open.length > 0) segments.push(open);
			segments.push([message]);
			open = [];
		} else {
			open.push(message);
		}
	}
	if (open.length > 0) segments.push(open);
	return segments;
}

/** One reply for each delivery: those of its parts become one. */
export function joined(batch: readonly Prepared[], replies: readonly Reply[]): Reply[] {
	const whole: Reply[] = [];
	for (let index = 0; index < batch.length; ) {
		const part = batch[index]?.whole;
		const count = part?.parts.length ?? 1;
		const own = replies.slice(index, index + count);
		whole.push(...(part ? [part.join(own)] : own));
		index += count;
	}
	return whole;
}

/** What a segment names of each of its sites. */
export function keysOf(segment: readonly Prepared[]): Map<string, SiteKeys> {
	const keys = new Map<string, SiteKeys>();
	for (const message of segment) {
		const { siteId } = message.delivery;
		let site = keys.get(siteId);
		if (site === undefined) {
			site = new SiteKeys();
			keys.set(siteId, site);
		}
		const changes = changeSetOf(message)?.changes ?? [];
		for (const change of changes) addKeys(site, change, changes);
	}
	return keys;
}

function addKeys(site: SiteKeys, change: Change, changes: readonly Change[]): void {
	switch (change.kind) {
		case 'patient':
			site.of(patientIdentifiers).add(change.identifiers[0].value);
			return;
		case 'encounter':
			site.of(visits).add(visitKey(change.visit));
			return;
		case 'observation':
			if (change.order) site.of(orders).add(orderKey(change.order));
			return;
		case 'item':
			site.of(items).push({ resourceType: change.resourceType, identifierValue: patientOf(change, changes), item: change.item });
			return;
		case 'merge':
			site.of(patientIdentifiers).add(change.prior[0].value);
			return;
		case 'resource':
			addResourceKeys(site, change);
			return;
		case 'instance':
			nameInstance(site.of(imaging), change.instance);
			return;
		case 'settlement':
			site.of(imaging).conflictIds.add(change.conflictId);
			if (change.received) nameInstance(site.of(imaging), change.received);
			return;
		case 'report':
			addReportKeys(site, change);
			return;
		case 'report-edit':
			if (change.edit.operation === 'add') {
				site.of(imaging).studyUids.add(change.edit.studyUid);
				site.of(diagnosticReports).studyUids.add(change.edit.studyUid);
			} else site.addRow('DiagnosticReport', rowIdOf(change.edit.id));
			return;
		case 'identity':
			site.addRow('Patient', change.edit.survivor);
			site.addRow('Patient', change.edit.prior);
			return;
		case 'mpps':
			site.of(procedureSteps).add(change.sopInstanceUid);
			return;
		case 'document':
			addDocumentKeys(site, change, changes);
			return;
		case 'unlink':
			site.of(patientIdentifiers).add(change.first[0].value);
			site.of(patientIdentifiers).add(change.second[0].value);
			return;
	}
}

/** The identifier value by which the message names the patient of a change. */
function patientOf({ patient: ref }: { patient: number }, changes: readonly Change[]): string {
	const patient = changes.find((other) => other.kind === 'patient' && other.ref === ref);
	if (patient?.kind !== 'patient') throw new Error('a change names a patient that its message does not');
	return patient.identifiers[0].value;
}

function addDocumentKeys(site: SiteKeys, change: DocumentChange, changes: readonly Change[]): void {
	const { entries, study } = change;
	site.of(documents).push({ identifierValue: patientOf(change, changes), keys: documentKeys(change), items: entries });
	if (study.uid !== undefined) site.of(imaging).studyUids.add(study.uid);
	else if (study.accession !== undefined) site.of(imaging).accessionNumbers.add(study.accession);
	for (const { studies } of entries) {
		for (const uid of studies?.uids ?? []) site.of(imaging).studyUids.add(uid);
		if (studies?.accession !== undefined) site.of(imaging).accessionNumbers.add(studies.accession);
	}
}

function addReportKeys(site: SiteKeys, { key, study, observations }: ReportChange): void {
	if (key) site.of(diagnosticReports).orderKeys.add(orderKey(key.order));
	if (observations.order) site.of(orders).add(orderKey(observations.order));
	if (study.uid !== undefined) site.of(imaging).studyUids.add(study.uid);
	else for (const number of [study.accession, study.filler]) if (number !== undefined) site.of(imaging).accessionNumbers.add(number);
}

function addResourceKeys(site: SiteKeys, { resourceType, id, condition, references, patients }: ResourceChange): void {
	if (id !== undefined) site.addRow(resourceType, rowIdOf(id));
	for (const found of condition?.matched ?? []) site.addRow(resourceType, rowIdOf(found));
	for (const { plan, matched } of references) for (const found of matched ?? []) site.addRow(plan.resourceType, rowIdOf(found));
	for (const rowId of patients) site.addRow('Patient', rowId);
}
