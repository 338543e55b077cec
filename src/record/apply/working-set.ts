import {
	beganStudy,
	type Conflict,
	type HeldConflict,
	type HeldInstance,
	type HeldStudy,
	type InstancePolicy,
	type NewInstance,
	type Replacement,
	type SettledConflict,
} from '../imaging.ts';
import { indexText } from '../index-text.ts';
import type { MppsReport, MppsSession } from '../mpps.ts';
import type { AuditEntry } from '../report.ts';
import type { ResourceType } from '../table-shape.ts';
import type { Row } from './rows.ts';
import { StatedDocuments } from './stated-documents.ts';
import { UndoLog } from './undo-log.ts';

/** Where an identifier value leads: the rows of `patient_identifier` for it. */
export interface IdentifierEntry {
	readonly system: string;
	readonly patientId: string;
	readonly old: boolean;
	/** 0 is the business identifier. */
	readonly rank: number;
}

/** Rank of an account, licence or social security number: searches find it, but it identifies no patient of a message. */
export const otherNumberRank = 10_000;

/** A longer identifier is kept in the resource and found by no search: no index takes it. */
export const identifierLengthMax = 500;

export interface PatientIdentifier {
	readonly value: string;
	readonly system: string;
	readonly old: boolean;
	readonly rank: number;
}

/** Rows of one patient to move to another by statement (merge, unlink). */
export interface Move {
	from: Pick<Row, 'id' | 'givenId'>;
	to: Pick<Row, 'id' | 'givenId'>;
	/** `merge` moves everything of `from`; `unlink` only what was recorded under `to` before the merge. */
	reason: 'merge' | 'unlink';
}

/**
 * What a batch has read of one site, and what its messages have made of it so far. Every change is noted, so that a
 * message that fails halfway is undone without a trace.
 */
export class WorkingSet {
	/** Every row that was read or made, by type and row id: its newest version. */
	readonly #rows = new Map<ResourceType, Map<string, Row>>();
	/** By identifier value. */
	readonly identifiers = new Map<string, readonly IdentifierEntry[]>();
	/** Row ids by visit key; a visit number belongs to a patient, so one key may lead to several. */
	readonly #visits = new Map<string, readonly string[]>();
	/** Row ids by order key, then item key. */
	readonly #orders = new Map<string, ReadonlyMap<string, string>>();
	/** Row ids by what `itemKey` makes of type, patient and item. */
	readonly #items = new Map<string, readonly string[]>();
	/** Identifiers of the patients whose list changed, to be written anew. */
	readonly patientIdentifiers = new Map<string, readonly PatientIdentifier[]>();
	/** Row ids of reports by order key. */
	readonly #reports = new Map<string, readonly string[]>();
	readonly moves: Move[] = [];
	readonly audits: AuditEntry[] = [];
	/** By SOP Instance UID. */
	readonly #instances = new Map<string, HeldInstance>();
	/** By Study Instance UID. */
	readonly #studies = new Map<string, HeldStudy>();
	/** Whether it is stored, by study and series. */
	readonly #series = new Map<string, boolean>();
	/** Keys of objects that are kept aside, by UID and digest. */
	readonly #kept = new Map<string, readonly string[]>();
	readonly #conflicts = new Map<string, HeldConflict>();
	instancePolicy: InstancePolicy = 'keep';
	/** By SOP Instance UID. */
	readonly newInstances = new Map<string, NewInstance>();
	/** By SOP Instance UID; what is put in place is among the new instances too. */
	readonly replacements = new Map<string, Replacement>();
	readonly conflicts: Conflict[] = [];
	readonly settledConflicts: SettledConflict[] = [];
	/** Procedure steps by SOP Instance UID. */
	readonly #sessions = new Map<string, MppsSession>();
	/** Reports about procedure steps that the batch accepted, in order. */
	readonly reports: MppsReport[] = [];

	readonly #undo = new UndoLog();
	readonly documents = new StatedDocuments(this.#undo);

	/** Runs one message's changes: all of them, or, when it throws, none. */
	attempt<T>(changes: () => T): T {
		return this.#undo.attempt(changes);
	}

	/** Notes a row as it stands in the database. */
	addStored(row: Row): void {
		this.#table(row.resourceType).set(row.id, row);
	}

	addStoredVisit(visitKey: string, row: Row): void {
		this.addStored(row);
		this.#visits.set(visitKey, [...(this.#visits.get(visitKey) ?? []), row.id]);
	}

	addStoredObservation(orderKey: string, item: string, row: Row): void {
		this.addStored(row);
		const items = (this.#orders.get(orderKey) as Map<string, string> | undefined) ?? new Map<string, string>();
		this.#orders.set(orderKey, items.set(item, row.id));
	}

	addStoredItem(row: Row): void {
		this.addStored(row);
		const key = itemKeyOf(row);
		this.#items.set(key, [...(this.#items.get(key) ?? []), row.id]);
	}

	/** Row ids of every patient that a message under the identifier value may speak of, merged ones and their survivors. */
	patientsOf(identifierValue: string): Set<string> {
		const ids = new Set<string>();
		for (const { patientId } of this.identifiers.get(identifierValue) ?? []) {
			let row = this.row('Patient', patientId);
			while (row !== undefined && !ids.has(row.id)) {
				ids.add(row.id);
				const survivor: unknown = row.links['merged_into'];
				row = typeof survivor === 'string' ? this.row('Patient', survivor) : undefined;
			}
		}
		return ids;
	}

	row(type: ResourceType, id: string): Row | undefined {
		return this.#rows.get(type)?.get(id);
	}

	/** Every row of the type that was read or made. */
	rows(type: ResourceType): Row[] {
		return [...this.#table(type).values()];
	}

	/** A new version of a row, or a new row. */
	put(row: Row): void {
		this.#put(this.#table(row.resourceType), row.id, row);
	}

	#table(type: ResourceType): Map<string, Row> {
		const held = this.#rows.get(type);
		if (held) return held;
		const table = new Map<string, Row>();
		this.#rows.set(type, table);
		return table;
	}

	/** A patient's whole list of identifiers, before and after; keeps the index by value true to it. */
	putPatientIdentifiers(patientId: string, before: readonly PatientIdentifier[], after: readonly PatientIdentifier[]): void {
		this.#put(this.patientIdentifiers, patientId, after);
		for (const { value } of before)
			this.#put(
				this.identifiers,
				value,
				(this.identifiers.get(value) ?? []).filter((entry) => entry.patientId !== patientId),
			);
		for (const { value, system, old, rank } of after)
			this.#put(this.identifiers, value, [...(this.identifiers.get(value) ?? []), { system, old, rank, patientId }]);
	}

	visits(visitKey: string): Row[] {
		return this.#all('Encounter', this.#visits.get(visitKey) ?? []);
	}

	putEncounter(visitKey: string, row: Row): void {
		this.put(row);
		const ids = this.#visits.get(visitKey) ?? [];
		if (!ids.includes(row.id)) this.#put(this.#visits, visitKey, [...ids, row.id]);
	}

	/** Any observation of the order; all are one patient's. */
	anyOfOrder(orderKey: string): Row | undefined {
		const first = this.#orders.get(orderKey)?.values().next().value;
		return first === undefined ? undefined : this.row('Observation', first);
	}

	ordered(orderKey: string, item: string): Row | undefined {
		const id = this.#orders.get(orderKey)?.get(item);
		return id === undefined ? undefined : this.row('Observation', id);
	}

	putObservation(orderKey: string, item: string, row: Row): void {
		this.put(row);
		const items = this.#orders.get(orderKey);
		if (items instanceof OrderItems) this.#put(items, item, row.id);
		else this.#put(this.#orders, orderKey, new OrderItems(items).set(item, row.id));
	}

	/** What the patient has under the item key; after a merge there may be several. */
	items(type: ResourceType, patientId: string, item: string): Row[] {
		return this.#all(type, this.#items.get(`${type}|${patientId}|${item}`) ?? []);
	}

	putItem(row: Row): void {
		this.put(row);
		const key = itemKeyOf(row);
		const ids = this.#items.get(key) ?? [];
		if (!ids.includes(row.id)) this.#put(this.#items, key, [...ids, row.id]);
	}

	addStoredReport(row: Row): void {
		this.addStored(row);
		const key = row.links['order_key'];
		if (typeof key === 'string') this.#reports.set(key, withId(this.#reports.get(key), row.id));
	}

	/** Of an order; several patients' where the number is no order's own. */
	reportsOf(orderKey: string): Row[] {
		return this.#all('DiagnosticReport', this.#reports.get(orderKey) ?? []);
	}

	putReport(row: Row): void {
		this.put(row);
		const key = row.links['order_key'];
		if (typeof key === 'string') this.#put(this.#reports, key, withId(this.#reports.get(key), row.id));
	}

	/** Reports that name the study by its UID or by a number. */
	reportsNaming({ studyUid, accessionNumber }: HeldStudy): Row[] {
		const number = accessionNumber === null ? undefined : indexText(accessionNumber);
		return [...this.#table('DiagnosticReport').values()].filter(
			({ links }) =>
				links['study_uid'] === studyUid ||
				(number !== undefined && (links['accession_number'] === number || links['filler_number'] === number)),
		);
	}

	putAudit(entry: AuditEntry): void {
		this.#undo.push(this.audits, entry);
	}

	#all(type: ResourceType, ids: readonly string[]): Row[] {
		return ids.map((id) => this.row(type, id)).filter((row) => row !== undefined);
	}

	addStoredInstance(sopInstanceUid: string, held: HeldInstance): void {
		this.#instances.set(sopInstanceUid, held);
	}

	addStoredSeries(study: HeldStudy, seriesUid: string | null): void {
		this.#studies.set(study.studyUid, study);
		if (seriesUid !== null) this.#series.set(`${study.studyUid}/${seriesUid}`, true);
	}

	addStoredStudy(study: HeldStudy): void {
		this.#studies.set(study.studyUid, study);
	}

	/** Studies of an accession number. */
	studiesOf(accessionNumber: string): HeldStudy[] {
		return [...this.#studies.values()].filter((study) => study.accessionNumber === accessionNumber && study.instanceCount > 0);
	}

	addStoredKept(sopInstanceUid: string, digest: string, objectKey: string): void {
		const key = `${sopInstanceUid}/${digest}`;
		this.#kept.set(key, [...(this.#kept.get(key) ?? []), objectKey]);
	}

	addStoredConflict(id: string, conflict: HeldConflict): void {
		this.#conflicts.set(id, conflict);
	}

	/** Keys of the objects with this content that are kept aside. */
	keptObjects(sopInstanceUid: string, digest: string): readonly string[] {
		return this.#kept.get(`${sopInstanceUid}/${digest}`) ?? [];
	}

	conflict(id: string): HeldConflict | undefined {
		return this.#conflicts.get(id);
	}

	instance(sopInstanceUid: string): HeldInstance | undefined {
		return this.#instances.get(sopInstanceUid);
	}

	study(studyUid: string): HeldStudy | undefined {
		const study = this.#studies.get(studyUid);
		return study?.instanceCount === 0 ? undefined : study;
	}

	/** As `study`, or what this batch emptied: if it gets an instance before the batch is written it is the same study still. */
	lastKnownStudy(studyUid: string): HeldStudy | undefined {
		return this.#studies.get(studyUid);
	}

	/** Whether there are rows of an instance's study and series. */
	storedOf({ instance: { attributes: uids } }: NewInstance): { isKnownStudy: boolean; isKnownSeries: boolean } {
		const isKnownSeries = this.#series.get(`${uids.studyUid}/${uids.seriesUid}`) === true;
		return { isKnownStudy: this.#studies.get(uids.studyUid)?.isStored === true, isKnownSeries };
	}

	hasSeries(studyUid: string, seriesUid: string): boolean {
		return this.#series.has(`${studyUid}/${seriesUid}`);
	}

	putInstance(added: NewInstance): void {
		const { attributes, digest, bytes, objectKey, callingAe, source } = added.instance;
		const { studyUid, seriesUid, sopInstanceUid } = attributes;
		const held = { sopInstanceUid, studyUid, digest, bytes, objectKey, callingAe, source, storedAt: undefined };
		this.#put(this.#instances, sopInstanceUid, held);
		this.#countStudy(this.#studies.get(studyUid) ?? beganStudy(added), 1);
		if (!this.hasSeries(studyUid, seriesUid)) this.#put(this.#series, `${studyUid}/${seriesUid}`, false);
		this.#put(this.newInstances, sopInstanceUid, added);
	}

	/** What its UID named before, of this batch or not, is the instance no more. */
	replaceInstance(replacement: Replacement): void {
		const { added, studyUids, patientId, isLastWord } = replacement;
		const { sopInstanceUid, studyUid } = added.instance.attributes;
		const earlier = this.replacements.get(sopInstanceUid);
		const left = this.#studies.get(this.#instances.get(sopInstanceUid)?.studyUid ?? '');
		if (left) this.#countStudy(left, -1);
		this.putInstance(added);
		const study = this.#studies.get(studyUid);
		if (study && (isLastWord || study.instanceCount === 1)) {
			const { id, instanceCount, isStored } = study;
			this.#put(this.#studies, studyUid, { ...beganStudy(added), id, patientId, instanceCount, isStored });
		}
		this.#put(this.replacements, sopInstanceUid, { ...replacement, studyUids: [...(earlier?.studyUids ?? []), ...studyUids] });
	}

	#countStudy(study: HeldStudy, difference: number): void {
		this.#put(this.#studies, study.studyUid, { ...study, instanceCount: study.instanceCount + difference });
	}

	putConflict(conflict: Conflict): void {
		this.#undo.push(this.conflicts, conflict);
		const key = `${conflict.sopInstanceUid}/${conflict.digest}`;
		this.#put(this.#kept, key, [...(this.#kept.get(key) ?? []), conflict.objectKey]);
	}

	settleConflict(settled: SettledConflict): void {
		this.#undo.push(this.settledConflicts, settled);
		const held = this.#conflicts.get(settled.conflictId);
		if (held) this.#put(this.#conflicts, settled.conflictId, { ...held, isSettled: true });
	}

	move(move: Move): void {
		this.#undo.push(this.moves, move);
	}

	addStoredSession(session: MppsSession): void {
		this.#sessions.set(session.sopInstanceUid, session);
	}

	session(sopInstanceUid: string): MppsSession | undefined {
		return this.#sessions.get(sopInstanceUid);
	}

	putSession(session: MppsSession, report: MppsReport): void {
		this.#put(this.#sessions, session.sopInstanceUid, session);
		this.#undo.push(this.reports, report);
	}

	/** Every session that the batch changed, as its last report left it. */
	changedSessions(): MppsSession[] {
		return [...this.#sessions.values()].filter(({ facts }) => facts !== undefined);
	}

	#put<K, V>(map: Map<K, V>, key: K, value: V): void {
		this.#undo.put(map, key, value);
	}

	/** Every row that the batch made, newest version of each resource. */
	*changed(): Generator<Row> {
		for (const table of this.#rows.values()) for (const row of table.values()) if (!row.stored) yield row;
	}
}

function withId(ids: readonly string[] | undefined, id: string): readonly string[] {
	return ids === undefined ? [id] : ids.includes(id) ? ids : [...ids, id];
}

function itemKeyOf({ resourceType, links }: Row): string {
	return `${resourceType}|${links['patient_id']}|${links['item_key']}`;
}

/** The items of an order as this batch changes them; a copy of what was read. */
class OrderItems extends Map<string, string> {}
