import { canonical, copyJson, type JsonObject } from '#core/json.ts';
import { defineChange, type NamedPatient } from '../../apply/change-kind.ts';
import type { ApplyContext } from '../../apply/context.ts';
import { patientNamed } from '../../apply/named-patient.ts';
import { studiesNamed, studyReference } from '../../apply/report-studies.ts';
import { revise } from '../../apply/revise.ts';
import { newRow, type Row, referenceTo, resourceOf } from '../../apply/rows.ts';
import { linkNamed } from '../../apply/study-link.ts';
import type { WorkingSet } from '../../apply/working-set.ts';
import type { OtherItems } from '../../document.ts';
import { documents } from '../../holdings/documents.ts';
import { imaging, nameStudies } from '../../holdings/imaging.ts';
import { identifyPatient } from '../../identity/match.ts';
import { keyDigest } from '../../key-digest.ts';
import type { DocumentChange, DocumentRelation } from './change.ts';
import { applyEntries } from './entries.ts';
import { itemsOf } from './items.ts';

export const documentKind = defineChange<DocumentChange>({
	kind: 'document',
	/** The rows that its versions and other documents of the patient state must be read as well. */
	alone: true,
	keys(stated, keys, message) {
		const change = keyed(stated);
		const { entries, study, patient } = change;
		const items = entries.flatMap((entry) => itemsOf(entry).map((item) => ({ resourceType: entry.resourceType, item })));
		keys.of(documents).push({ identifierValues: patientNamed(patient, message), keys: documentKeys(change), items });
		nameStudies(keys.of(imaging), { ...study, filler: undefined });
		for (const { studies } of entries) {
			for (const uid of studies?.uids ?? []) keys.of(imaging).studyUids.add(uid);
			if (studies?.accession !== undefined) keys.of(imaging).accessionNumbers.add(studies.accession);
		}
	},
	/** A replaced version of a document does not update its patient. */
	keepsPatient: ({ set }, change, patient) => change.patient === patient.ref && isOutdated(set, keyed(change), patient),
	apply(context, change, references) {
		applyDocument(context, keyed(change), references.patient(change.patient), references.encounter(change.encounter));
	},
});

/** Returns the change with its keys, and those of its entries, as digests, as the database holds them. */
function keyed(change: DocumentChange): DocumentChange {
	const named = <T extends { item: string }>(reference: T): T => ({ ...reference, item: keyDigest(reference.item) });
	const relations = change.relations.map(({ key, set, ...relation }) => ({
		...relation,
		...(key !== undefined && { key: keyDigest(key) }),
		...(set && { set: { ...set, key: keyDigest(set.key) } }),
	}));
	const entries = change.entries.map((entry) => ({
		...named(entry),
		...(entry.otherItems && { otherItems: digested(entry.otherItems) }),
		...(entry.refers && { refers: Object.fromEntries(Object.entries(entry.refers).map(([name, list]) => [name, list.map(named)])) }),
	}));
	return {
		...change,
		key: keyDigest(change.key),
		...(change.set && { set: { ...change.set, key: keyDigest(change.set.key) } }),
		relations,
		entries,
	};
}

function digested({ exact, general }: OtherItems): OtherItems {
	return { exact: exact.map(keyDigest), general: general.map(keyDigest) };
}

/** Returns the keys of the document, its set and its parents. */
function documentKeys({ key, set, relations }: DocumentChange): string[] {
	const parents = relations.flatMap((relation) => [relation.key, relation.set?.key]);
	return [...new Set([key, set?.key, ...parents].filter((found) => found !== undefined))];
}

/**
 * Creates the document, updates the same one (same id, or same set and version), or replaces the current version of its set
 * (CDA R2 §3.2, §4.2.3.1). A version that was replaced before it arrived is kept as superseded and changes nothing else.
 */
function applyDocument(context: ApplyContext, change: DocumentChange, patient: Row, encounter: Row | undefined): void {
	const found = standing(context.set, change, patient.id);
	flagForeign(context, change, patient);
	const row = written(context, change, { ...found, patient, encounter });
	if (!found.isReplaced) {
		for (const older of found.replaced) supersede(context, older);
		applyEntries(context, change, { document: row, replaced: found.replaced, patient });
		return;
	}
	context.flags.push({
		code: 'late-document',
		text: `${change.expression} is of a version that was replaced before; it is kept as superseded, and its entries are not applied`,
	});
}

function written(context: ApplyContext, change: DocumentChange, on: Composing): Row {
	const { own, patient } = on;
	const resource = composed(context, change, on);
	const contents = (resource['content'] ?? []) as Content[];
	const binaries = change.bytes.flatMap((bytes, index) => (bytes === null ? [] : located(context, contents, index, { bytes, own })));
	const links = linksOf(change, patient);
	const text = JSON.stringify(resource);
	const row = own
		? revise(context, own, isSameContent(own, resource) ? own.text : text, resource, { ...own.links, ...links })
		: newRow(context, { resourceType: 'DocumentReference', id: context.newId(), text, resource, links });
	if (own === undefined) context.changed.push(row);
	if (row !== own) context.set.put(row);
	for (const binary of binaries) context.set.of(documents).putBinary({ ...binary, documentId: row.id });
	return row;
}

type Content = { attachment: { contentType: string; url?: string; hash?: string } };

/** Sets the URL of the content: that of the Binary with its bytes, or of a new Binary, which is returned. */
function located(context: ApplyContext, contents: Content[], index: number, { bytes, own }: { bytes: Uint8Array; own: Row | undefined }) {
	const attachment = contents[index]?.attachment;
	if (attachment === undefined) throw new Error('a document has bytes without a content');
	const { contentType, hash } = attachment;
	const held = own && ((resourceOf(own)['content'] ?? []) as Partial<Content>[]).map((content) => content.attachment);
	const same = held?.find((other) => other?.hash === hash && other?.contentType === contentType && other.url?.startsWith('Binary/'));
	if (same?.url !== undefined && hash !== undefined) {
		attachment.url = same.url;
		return [];
	}
	// A document about several patients has one Binary for all of them.
	const shared = context.set.of(documents).binaries.find((other) => other.bytes === bytes);
	const id = shared?.id ?? context.newId();
	attachment.url = `Binary/${id}`;
	return shared ? [] : [{ id, contentType, bytes }];
}

function isSameContent(held: Row, resource: JsonObject): boolean {
	return canonical(resourceOf(held)) === canonical(resource);
}

interface Composing extends Standing {
	patient: Row;
	encounter: Row | undefined;
}

function composed(context: ApplyContext, change: DocumentChange, on: Composing): JsonObject {
	const { patient, encounter, isReplaced } = on;
	const resource = copyJson(change.resource);
	resource['status'] = isReplaced ? 'superseded' : 'current';
	resource['subject'] = { reference: referenceTo(patient) };
	const relatesTo = relationsOf(context.set, change, on);
	if (relatesTo.length > 0) resource['relatesTo'] = relatesTo;
	linkNamed(context, { ...change.study, filler: undefined }, patient);
	const related = studiesNamed(context.set, change.study, patient.id).studies.map(studyReference);
	const circumstances: JsonObject = {
		...(encounter === undefined ? {} : { encounter: [{ reference: referenceTo(encounter) }] }),
		...(resource['context'] as JsonObject | undefined),
		...(related.length === 0 ? {} : { related }),
	};
	if (Object.keys(circumstances).length > 0) resource['context'] = circumstances;
	return resource;
}

/** Returns the parents that the document names, then the documents that it replaces by its version, now or in the past. */
function relationsOf(set: WorkingSet, change: DocumentChange, { own, patient, replaced }: Composing): JsonObject[] {
	const others = documentsOf(set, patient.id).filter((row) => row !== own);
	const list: JsonObject[] = change.relations.map((relation) => {
		const parent = newest(others.filter((row) => isNamed(row, relation)));
		const target = parent ? { reference: referenceTo(parent) } : { type: 'DocumentReference', identifier: relation.identifier };
		return { code: relation.code, target };
	});
	const before = own === undefined ? [] : ((resourceOf(own)['relatesTo'] ?? []) as JsonObject[]);
	const further = replaced.map((row): JsonObject => ({ code: 'replaces', target: { reference: referenceTo(row) } }));
	for (const relation of [...further, ...before.filter(({ code }) => code === 'replaces')]) {
		const name = canonical(relation);
		if (hasReference(relation) && !list.some((other) => canonical(other) === name)) list.push(relation);
	}
	return list;
}

function hasReference({ target }: JsonObject): boolean {
	return (target as JsonObject | undefined)?.['reference'] !== undefined;
}

function supersede(context: ApplyContext, row: Row): void {
	const resource = { ...resourceOf(row), status: 'superseded' };
	context.set.put(revise(context, row, JSON.stringify(resource), resource, row.links));
}

/** Tells whether the patient's record has a newer version of the document than the message brings. */
function isOutdated(set: WorkingSet, document: DocumentChange, patient: NamedPatient): boolean {
	const { expression } = patient;
	const match = identifyPatient(set, patient, expression === undefined ? { segment: 'PID', field: 3 } : { expression });
	return match !== undefined && standing(set, document, match.current.id).isReplaced;
}

interface Standing {
	/** The document itself, if it is known. */
	own: Row | undefined;
	/** Current documents that it replaces. */
	replaced: Row[];
	isReplaced: boolean;
}

function standing(set: WorkingSet, change: DocumentChange, patientId: string): Standing {
	const documents = documentsOf(set, patientId);
	// After a merge both patients may have had it; the newest one is meant.
	const own = newest(documents.filter((row) => row.links['document_key'] === change.key)) ?? newest(documents.filter(isSame(change)));
	const others = documents.filter((row) => row !== own);
	const parents = change.relations.filter(({ code }) => code === 'replaces');
	const named = others.filter((row) => parents.some((parent) => isNamed(row, parent)));
	const older = others.filter((row) => named.includes(row) || order(row, change) < 0);
	const newer = others.filter((row) => !named.includes(row) && (row.links['replaces_key'] === change.key || order(row, change) > 0));
	// A document that a person marked as entered in error replaces nothing.
	const isReplaced = newer.some((row) => resourceOf(row)['status'] !== 'entered-in-error');
	return { own, replaced: isReplaced ? [] : older.filter((row) => resourceOf(row)['status'] === 'current'), isReplaced };
}

function documentsOf(set: WorkingSet, patientId: string): Row[] {
	return set.rows('DocumentReference').filter(({ links }) => links['patient_id'] === patientId);
}

function newest(rows: readonly Row[]): Row | undefined {
	return rows.toSorted((left, right) => (left.id < right.id ? -1 : 1)).at(-1);
}

function isSame({ set }: DocumentChange): (row: Row) => boolean {
	return ({ links }) => set?.version !== undefined && links['set_key'] === set.key && links['set_version'] === String(set.version);
}

function isNamed({ links }: Row, { key, set }: DocumentRelation): boolean {
	if (key !== undefined && links['document_key'] === key) return true;
	if (set === undefined || links['set_key'] !== set.key) return false;
	return set.version === undefined || links['set_version'] === String(set.version);
}

/** Returns a negative number when the row is an older version of the document's set, a positive one when it is newer. */
function order({ links }: Row, { set, statedAt }: DocumentChange): number {
	if (set === undefined || links['set_key'] !== set.key) return 0;
	const version = links['set_version'];
	if (set.version !== undefined && typeof version === 'string' && Number(version) !== set.version) return Number(version) - set.version;
	const before = String(links['stated_at'] ?? '');
	return before < statedAt ? -1 : before > statedAt ? 1 : 0;
}

function linksOf({ key, set, statedAt, relations }: DocumentChange, patient: Row): Row['links'] {
	return {
		patient_id: patient.id,
		document_key: key,
		set_key: set?.key ?? null,
		set_version: set?.version === undefined ? null : String(set.version),
		stated_at: statedAt,
		replaces_key: relations.find(({ code }) => code === 'replaces')?.key ?? null,
	};
}

/**
 * Flags a document whose id, or that of its parent, is the document of another patient. The document stays with the patients that it names.
 */
function flagForeign({ set, flags }: ApplyContext, change: DocumentChange, patient: Row): void {
	const isForeign = (key: string | undefined) =>
		key !== undefined &&
		set
			.of(documents)
			.ownersOf(key)
			.some((id) => id !== patient.id);
	if (!change.isShared && isForeign(change.key)) {
		const text = `${change.expression} is the id of a document of another patient, too; that one stays as it is`;
		flags.push({ code: 'other-patient', text });
	}
	if (!change.isShared && change.relations.some(({ key }) => isForeign(key))) {
		flags.push({ code: 'other-patient', text: 'relatedDocument names a document of another patient; that one stays as it is' });
	}
}
