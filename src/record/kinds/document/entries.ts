import type { JsonObject } from '#core/json.ts';
import { canonical, copyJson } from '#core/json.ts';
import type { ApplyContext } from '../../apply/context.ts';
import { putKeyed } from '../../apply/put-keyed.ts';
import { absentStudyReference, studiesNamed, studyReference } from '../../apply/report-studies.ts';
import { revise } from '../../apply/revise.ts';
import { fhirIdOf, newRow, type Row, referenceTo, resourceOf } from '../../apply/rows.ts';
import type { DocumentEntry, EntryType } from '../../document.ts';
import { type DocumentStatement, documents } from '../../holdings/documents.ts';
import { indexText } from '../../index-text.ts';
import type { DocumentChange } from './change.ts';
import { knownItems, nameOf } from './items.ts';
import { nextReportStatus } from './report-status.ts';

interface Stating {
	/** The document after the change. */
	document: Row;
	/** Documents that it replaces. */
	replaced: readonly Row[];
	patient: Row;
}

/**
 * Applies the statements of a document. Documents of a patient share resources by their items. The latest document that states a resource
 * determines its content. A resource that the document or a replaced one stated before is withdrawn when no current document states it.
 */
export function applyEntries(context: ApplyContext, change: DocumentChange, { document, replaced, patient }: Stating): void {
	const { statedAt } = change;
	const stated = context.set.of(documents);
	const entries = [...new Map(change.entries.map((entry) => [nameOf(entry), entry])).values()];
	const before = [document, ...replaced].flatMap(({ id }) => stated.currentOf(id));
	for (const statement of before) stated.put({ ...statement, isCurrent: false });
	const items = knownItems(context.set, entries, { patientId: patient.id, documentId: document.id, before });
	const ids = new Map([...items].map(([name, { known }]) => [name, idOf(known, context)]));
	for (const entry of entries) {
		const name = nameOf(entry);
		const id = ids.get(name) as ResourceId;
		const { item: key, known } = items.get(name) ?? { item: entry.item, known: undefined };
		const item = { patientId: patient.id, resourceType: entry.resourceType, item: key };
		const latest = stated.latestElsewhere(item, id.rowId, document.id);
		write(context, entry, { known, isOutdated: latest !== undefined && latest > statedAt, id, ids, patient });
		stated.put({ ...item, documentId: document.id, resourceId: id.rowId, statedAt, isCurrent: true });
	}
	const resources = new Set([...ids.values()].map(({ rowId }) => rowId));
	for (const statement of before) if (!resources.has(statement.resourceId)) withdraw(context, statement, document.id);
}

interface ResourceId {
	rowId: string;
	fhirId: string;
}

function idOf(known: Row | undefined, context: ApplyContext): ResourceId {
	if (known) return { rowId: known.id, fhirId: fhirIdOf(known) };
	const id = context.newId();
	return { rowId: id, fhirId: id };
}

interface Writing {
	known: Row | undefined;
	/** True when a later document states it differently. */
	isOutdated: boolean;
	id: ResourceId;
	ids: ReadonlyMap<string, ResourceId>;
	patient: Row;
}

function write(context: ApplyContext, entry: DocumentEntry, { known, isOutdated, id, ids, patient }: Writing): void {
	if (known && isOutdated) return;
	const { resourceType } = entry;
	const resource = composed(entry, ids, patient);
	const imagingStudy = studiesOf(context, entry, patient);
	if (imagingStudy.length > 0) resource['imagingStudy'] = imagingStudy;
	const links = { ...entry.keys, ...studyLinksOf(entry) };
	if (known) {
		if (resourceType === 'DiagnosticReport') resource['status'] = nextReportStatus(resourceOf(known), resource);
		const text = canonical(resourceOf(known)) === canonical(resource) ? known.text : JSON.stringify(resource);
		const row = revise(context, known, text, resource, { ...known.links, ...links });
		if (row !== known) putKeyed(context.set, row);
		return;
	}
	const created = { resourceType, id: id.rowId, text: JSON.stringify(resource), resource, links: { patient_id: patient.id, ...links } };
	const row = newRow(context, created);
	context.changed.push(row);
	putKeyed(context.set, row);
}

function composed({ resourceType, resource, refers = {} }: DocumentEntry, ids: Writing['ids'], patient: Row): JsonObject {
	const subject = { reference: referenceTo(patient) };
	const whole: JsonObject = { ...copyJson(resource), [subjectOf(resourceType)]: subject };
	for (const element in refers) {
		const references = (refers[element] ?? []).map((reference) => {
			const id = ids.get(nameOf(reference));
			if (id === undefined) throw new Error('an entry refers to one that its document does not have');
			return { reference: `${reference.resourceType}/${id.fhirId}` };
		});
		if (references.length > 0) whole[element] = references;
	}
	return whole;
}

/** References stored studies, and others by their UIDs until they arrive. Studies of another patient are left out. */
function studiesOf({ set, flags }: ApplyContext, { studies }: DocumentEntry, patient: Row): JsonObject[] {
	if (studies === undefined) return [];
	const { uids, accession } = studies;
	const names = uids.length > 0 ? uids.map((uid) => ({ uid, accession: undefined })) : [{ uid: undefined, accession }];
	const named = names.map((name) => ({ ...name, ...studiesNamed(set, { ...name, filler: undefined }, patient.id) }));
	if (named.some(({ isForeign }) => isForeign)) {
		flags.push({ code: 'other-patient', text: 'the document names a study of another patient; its report is not joined to it' });
	}
	return named.flatMap(({ uid, studies: found, isForeign }) => {
		if (found.length > 0) return found.map(studyReference);
		return uid === undefined || isForeign ? [] : [absentStudyReference(uid)];
	});
}

/** Returns the keys by which a later study finds the report. A report can wait for one study only. */
function studyLinksOf({ studies }: DocumentEntry): Row['links'] {
	if (studies === undefined) return {};
	const { uids, accession } = studies;
	return { study_uid: uids[0] ?? null, accession_number: accession === undefined ? null : indexText(accession) };
}

function subjectOf(type: EntryType): 'patient' | 'subject' {
	return type === 'AllergyIntolerance' ? 'patient' : 'subject';
}

/** Code systems of verificationStatus. The other types have `entered-in-error` among the codes of their status. */
const verification: Readonly<Partial<Record<EntryType, string>>> = {
	AllergyIntolerance: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification',
	Condition: 'http://terminology.hl7.org/CodeSystem/condition-ver-status',
};

/**
 * Marks as entered in error a resource that no current document states. This mark excludes clinicalStatus (con-5, ait-2), which in turn
 * excludes an abatement (con-4); the previous version keeps both.
 */
function withdraw(context: ApplyContext, statement: DocumentStatement, documentId: string): void {
	const { set } = context;
	const { resourceType, resourceId, patientId } = statement;
	if (set.of(documents).latestElsewhere(statement, resourceId, documentId) !== undefined) return;
	const row = set.row(resourceType, resourceId);
	if (row === undefined || row.links['patient_id'] !== patientId) return;
	const resource = resourceOf(row);
	const system = verification[resourceType];
	if (system === undefined) resource['status'] = 'entered-in-error';
	else {
		for (const name of Object.keys(resource)) if (name === 'clinicalStatus' || /^_?abatement/.test(name)) delete resource[name];
		resource['verificationStatus'] = { coding: [{ system, code: 'entered-in-error' }] };
	}
	const text = JSON.stringify(resource);
	const next = revise(context, row, text, resource, row.links);
	if (next !== row) set.put(next);
}
