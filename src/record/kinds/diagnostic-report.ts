import type { FailureLocation } from '#core/failure.ts';
import { canonical, type Json, type JsonObject } from '#core/json.ts';
import { defineChange } from '../apply/change-kind.ts';
import type { ApplyContext } from '../apply/context.ts';
import { flagLate, isReplayOf, textOf } from '../apply/late-result.ts';
import type { References } from '../apply/references.ts';
import { absentStudyReference, studiesNamed, studyReference } from '../apply/report-studies.ts';
import { revise } from '../apply/revise.ts';
import { newRow, type Row, referenceTo, resourceOf } from '../apply/rows.ts';
import { linkNamed } from '../apply/study-link.ts';
import { diagnosticReports } from '../holdings/diagnostic-reports.ts';
import { imaging, nameStudies } from '../holdings/imaging.ts';
import { orderKey, orders } from '../holdings/orders.ts';
import { indexText } from '../index-text.ts';
import { codeName } from '../item-key.ts';
import { keyDigest } from '../key-digest.ts';
import { statedReference } from '../person-or-place.ts';
import { type ContentChange, isCompleted, isWithdrawn, nextStatus, type StudyNames, wholeOrder } from '../report.ts';
import { inForce, type ReportWords, saysAny, withAddendum, withSections, wordsOf } from '../report-text.ts';
import { type Age, ageOf } from '../result-precedence.ts';
import { foreignOrder, withdrawObservations } from './observation.ts';

/** A report stated by an OBR and its OBX (HL7 v2.5.1 §7.3.1). The next message about the same order updates it. */
export interface DiagnosticReportChange {
	kind: 'diagnostic-report';
	patient: number;
	/** Index of an EncounterChange of the same set, when the message carried the visit. */
	encounter?: number;
	/** The key that identifies it. Without a key the report is always new. */
	key?: {
		order: { system: string; value: string };
		/** The number is not the order's own, so another patient may have it too. */
		byPatient: boolean;
		/** `wholeOrder`, or the part of the order on which it reports, and an ordinal if it repeats in the message. */
		item: string;
		/** True for a report of images. */
		isWhole: boolean;
		/** True if the message has one of the same before it. */
		isRepeated: boolean;
	};
	/** The OBX that follow the OBR, as the order and the items of their ObservationChange. */
	observations: { order?: { system: string; value: string }; items: readonly string[] };
	/** FHIR DiagnosticReport.status as the message states it. */
	status: string;
	/** The whole DiagnosticReport without id, meta, status, subject, encounter, result and imagingStudy. */
	resource: JsonObject;
	/** The text with which the message only adds to the report. */
	addendum?: string;
	/** The message withdraws results which the report may have in words. */
	withdrawsWords?: true;
	/** MSH-7 as a FHIR instant. */
	sent?: string | undefined;
	study: StudyNames;
	/** The field with the order number. */
	numberedAt?: FailureLocation;
	/** The sequence of the OBR. */
	sequence: number;
}

export const diagnosticReportKind = defineChange<DiagnosticReportChange>({
	kind: 'diagnostic-report',
	keys({ key, study, observations }, keys) {
		if (key) keys.of(diagnosticReports).orderKeys.add(orderKey(key.order));
		if (observations.order) keys.of(orders).add(orderKey(observations.order));
		nameStudies(keys.of(imaging), study);
	},
	apply: applyDiagnosticReport,
});

/**
 * Creates the report of an order, or a new version of it, unless the message is late. Elements that a message omits stay.
 */
function applyDiagnosticReport(context: ApplyContext, change: DiagnosticReportChange, references: References): void {
	const patient = references.patient(change.patient);
	const encounter = references.encounter(change.encounter);
	const known = knownReport(context, change, patient);
	const held = known && resourceOf(known);
	const resource = composed(context, change, references, held);
	flagShared(context, change, { known, held, resource });
	const status = nextStatus(
		held?.['status'] as string | undefined,
		change.status,
		contentChange(held, resource, change.addendum === undefined ? grown : [...grown, 'presentedForm']),
		ageOfChange(context, known, held, change),
	);
	if (known && status === 'late') flagLate(context, `OBR[${change.sequence}]`, held?.['status'], change.status, known);
	if (status === 'late') {
		if (known && held) addResults(context, change, known, held, references);
		return;
	}
	const isWithdrawal = held !== undefined && isWithdrawn(status.status);
	if (isWithdrawal) withdrawResults(context, change, held, references);
	// An F changes nothing of a corrected report but its results.
	const isKept = held?.['status'] === 'corrected' && change.status === 'final';
	const results = resource['result'] === undefined ? {} : { result: resource['result'] };
	const words = change.addendum === undefined ? wordsOf(held) : wordsOf(resource);
	const stated = isKept ? inWords({ ...held, ...results }, words) : resource;
	const content: JsonObject = isWithdrawal ? { ...held, ...status } : { ...stated, ...status };
	const isSame = held !== undefined && canonical(held) === canonical(content);
	const text = isSame && known ? known.text : JSON.stringify(content);
	// The time of the message alone makes no version.
	const links = { ...linksOf(change, patient, encounter, known), sent_at: (isSame ? known?.links['sent_at'] : change.sent) ?? null };
	const row = known
		? revise(context, known, text, content, links)
		: newRow(context, { resourceType: 'DiagnosticReport', id: context.newId(), text, resource: content, links });
	if (row === known) return;
	if (known === undefined) context.changed.push(row);
	context.set.of(diagnosticReports).put(row);
}

/**
 * A late message may have results that no other message states. They are the report's too, which otherwise stays as it is, without the words of results that
 * it withdraws.
 */
function addResults(context: ApplyContext, change: DiagnosticReportChange, known: Row, held: JsonObject, references: References): void {
	if (isWithdrawn(held['status'])) return;
	const result = resultsOf(context, change, held, references);
	const words = wordsOf(held);
	const left = change.withdrawsWords === true ? inForce(words, resultsInForce(context, change, held)) : words;
	const isSame = canonical(left) === canonical(words);
	if (isSame && result.length === ((held['result'] ?? []) as JsonObject[]).length) return;
	const resource = inWords({ ...held, result }, left);
	const row = revise(context, known, JSON.stringify(resource), resource, known.links);
	context.set.of(diagnosticReports).put(row);
}

/** A report is compared by when its status changed (OBR-22), else by when the message was made. */
function ageOfChange(
	context: ApplyContext,
	known: Row | undefined,
	held: JsonObject | undefined,
	{ resource, sent }: DiagnosticReportChange,
): Age {
	// The message that wrote the known version is read anew when it is replayed.
	if (known && isReplayOf(context, known)) return 'equal';
	return ageOf(
		{ reported: textOf(held?.['issued']), sent: textOf(known?.links['sent_at']) },
		{ reported: textOf(resource['issued']), sent },
	);
}

/** A report that is cancelled withdraws its results, except those of which the same message states something else. */
function withdrawResults(context: ApplyContext, change: DiagnosticReportChange, held: JsonObject, references: References): void {
	const { order, items } = change.observations;
	if (order === undefined) return;
	const key = orderKey(order);
	const named = new Set(referencesTo(held));
	for (const item of items) named.delete(`Observation/${references.observationId(context, item, key)}`);
	withdrawObservations(context, key, named, change.sent);
}

const wholeOrderKey = keyDigest(wholeOrder);

/** @throws Failure when the order belongs to another patient, because orders never change patients */
function knownReport({ set }: ApplyContext, { key, numberedAt, resource }: DiagnosticReportChange, patient: Row): Row | undefined {
	if (key === undefined) return undefined;
	const all = set.of(diagnosticReports).ofOrder(orderKey(key.order));
	const own = all.filter((row) => row.links['patient_id'] === patient.id);
	if (own.length === 0 && all.length > 0 && !key.byPatient) {
		throw foreignOrder(numberedAt);
	}
	// After a merge several may be known; the newest one is meant.
	const newestFirst = own.toSorted((left, right) => (left.id < right.id ? 1 : -1));
	// One order of several procedures may have a report of each.
	const alike = key.isWhole && newestFirst.length > 1 ? newestFirst.filter((row) => isNamed(row, resource['code'])) : [];
	if (alike.length === 1) return alike[0];
	const same = newestFirst.find((row) => row.links['item_key'] === keyDigest(key.item));
	if (same) return same;
	const [only] = newestFirst;
	if (newestFirst.length > 1 || key.isRepeated) return undefined;
	return key.isWhole || only?.links['item_key'] === wholeOrderKey ? only : undefined;
}

/** Tells whether a report has the name of a procedure. */
function isNamed(report: Row, code: Json | undefined): boolean {
	const nameOf = (concept: Json | undefined) => codeName(concept as Parameters<typeof codeName>[0]);
	return nameOf(resourceOf(report)['code']) === nameOf(code);
}

function composed(context: ApplyContext, change: DiagnosticReportChange, references: References, held: JsonObject | undefined): JsonObject {
	const patient = references.patient(change.patient);
	const encounter = references.encounter(change.encounter);
	const resource: JsonObject = { ...change.resource, subject: { reference: referenceTo(patient) } };
	const visit = encounter ? { reference: referenceTo(encounter) } : held?.['encounter'];
	if (visit !== undefined) resource['encounter'] = visit;
	const results = resultsOf(context, change, held, references);
	if (results.length > 0) resource['result'] = results;
	const studies = imagingStudies(context, change, patient);
	if (studies.length > 0) resource['imagingStudy'] = studies;
	else if (held?.['imagingStudy'] !== undefined) resource['imagingStudy'] = held['imagingStudy'];
	return inWords(resource, composedWords(context, change, references, held));
}

/**
 * A message without a text confirms or advances the words of the report. One with a text replaces them, unless all of its results are sections that a
 * completed report has: then the other sections stay, which are in force as long as nobody withdraws them.
 */
function composedWords(
	context: ApplyContext,
	change: DiagnosticReportChange,
	references: References,
	held: JsonObject | undefined,
): ReportWords {
	const [before, stated] = [wordsOf(held), wordsOf(change.resource)];
	if (change.addendum !== undefined && before['presentedForm'] !== undefined) return withAddendum(before, change.addendum, stated);
	if (Object.keys(stated).length === 0)
		return change.withdrawsWords === true ? inForce(before, resultsInForce(context, change, held)) : before;
	if (held === undefined || !isCompleted(held['status'])) return stated;
	const { order, items } = change.observations;
	const named = new Set(items.map((item) => `Observation/${references.observationId(context, item, order && orderKey(order))}`));
	const left = resultsInForce(context, change, held, named);
	if (!saysAny(before, left)) return stated;
	const known = new Set(referencesTo(held));
	if ([...named].every((reference) => known.has(reference)))
		return withSections(before, stated, resultsInForce(context, change, held), left);
	// A person has to see whether what is not repeated was to be left out.
	const text = `OBR[${change.sequence}] has other sections than the report, and leaves some out; their results are in force, and the report has the new text alone`;
	context.flags.push({ code: 'text-left-out', text });
	return stated;
}

function inWords(resource: JsonObject, words: ReportWords): JsonObject {
	const { conclusion: _conclusion, presentedForm: _form, ...others } = resource;
	return { ...others, ...words };
}

/** Returns the results of the order that a report has and nobody has withdrawn, in its order. */
function resultsInForce(
	context: ApplyContext,
	{ observations: { order } }: DiagnosticReportChange,
	held: JsonObject | undefined,
	but: ReadonlySet<string> = new Set(),
): JsonObject[] {
	if (order === undefined) return [];
	const named = new Map(
		context.set
			.of(orders)
			.itemsOf(orderKey(order))
			.map(([, row]) => [referenceTo(row), row]),
	);
	return referencesTo(held).flatMap((reference) => {
		const row = but.has(String(reference)) ? undefined : named.get(String(reference));
		const result = row && resourceOf(row);
		return result === undefined || isWithdrawn(result['status']) ? [] : [result];
	});
}

/** Appends the message's results to those of earlier messages: a laboratory sends the results of an order as they become available. */
function resultsOf(context: ApplyContext, change: DiagnosticReportChange, held: JsonObject | undefined, references: References): Json[] {
	const { order, items } = change.observations;
	const key = order && orderKey(order);
	const stated = items.map((item) => `Observation/${references.observationId(context, item, key)}`);
	// Observations without an order are new with every message, so the latest ones replace the others.
	const before = key === undefined && stated.length > 0 ? [] : ((held?.['result'] ?? []) as JsonObject[]);
	const known = new Set(before.map((reference) => reference['reference']));
	return [...before, ...[...new Set(stated)].filter((reference) => !known.has(reference)).map((reference) => ({ reference }))];
}

/** Flags a result that another report of the order has, too: what two OBR of one order state under one OBX-3 is one Observation, which has the later value. */
function flagShared(
	{ set, flags }: ApplyContext,
	{ key, observations, sequence }: DiagnosticReportChange,
	{ known, held, resource }: { known: Row | undefined; held: JsonObject | undefined; resource: JsonObject },
): void {
	if (key === undefined || observations.order === undefined || observations.items.length === 0) return;
	const reports = set.of(diagnosticReports).ofOrder(orderKey(key.order));
	const others = new Set(reports.flatMap((row) => (row === known ? [] : referencesTo(resourceOf(row)))));
	if (others.size === 0) return;
	const before = new Set(referencesTo(held));
	if (!referencesTo(resource).some((reference) => others.has(reference) && !before.has(reference))) return;
	const text = `OBR[${sequence}] has a result with the OBX-3 and OBX-4 of one in another report of its order; both reports have the later value`;
	flags.push({ code: 'repeated-observation', text });
}

/** Returns the references of a report to its results. */
function referencesTo({ result = [] }: JsonObject = {}): (Json | undefined)[] {
	return (result as JsonObject[]).map(({ reference }) => reference);
}

function imagingStudies(context: ApplyContext, { study }: DiagnosticReportChange, patient: Row): JsonObject[] {
	const { set, flags } = context;
	linkNamed(context, study, patient);
	const { studies, isForeign } = studiesNamed(set, study, patient.id);
	if (isForeign) flags.push({ code: 'other-patient', text: 'OBR names a study of another patient; the report is not joined to it' });
	if (studies.length > 0) return studies.map(studyReference);
	return study.uid === undefined || isForeign ? [] : [absentStudyReference(study.uid)];
}

function linksOf({ key, study }: DiagnosticReportChange, patient: Row, encounter: Row | undefined, known: Row | undefined): Row['links'] {
	const kept = known?.links;
	const cut = (text: string | undefined) => (text === undefined ? null : indexText(text));
	return {
		patient_id: patient.id,
		encounter_id: encounter?.id ?? kept?.['encounter_id'] ?? null,
		item_key: key === undefined ? null : keyDigest(key.item),
		order_key: key === undefined ? null : orderKey(key.order),
		study_uid: study.uid ?? kept?.['study_uid'] ?? null,
		accession_number: cut(study.accession) ?? kept?.['accession_number'] ?? null,
		origin: kept?.['origin'] ?? null,
		filler_number: cut(study.filler) ?? kept?.['filler_number'] ?? null,
	};
}

/** Elements that do not count as the report's content: its context, and the time at which it was sent. */
const circumstances = ['status', 'issued', 'imagingStudy', 'encounter', 'subject', 'identifier', 'basedOn'];

/** Results are only added, never removed. */
const grown = ['result'];

/** `growing` names the elements to which things are only added. */
export function contentChange(held: JsonObject | undefined, next: JsonObject, growing: readonly string[] = grown): ContentChange {
	if (held === undefined) return 'none';
	const [before, after] = [content(held), content(next)];
	if (canonical(before) === canonical(after)) return 'none';
	const same = Object.fromEntries(growing.map((name) => [name, null]));
	return canonical({ ...before, ...same }) === canonical({ ...after, ...same }) ? 'added' : 'changed';
}

/** Whether a reference leads to a resource is no part of the content, nor is the sending facility, which is the only Organization. */
function content(resource: JsonObject): JsonObject {
	const kept = Object.fromEntries(Object.entries(resource).filter(([name]) => !circumstances.includes(name)));
	for (const name of ['performer', 'resultsInterpreter']) {
		const stated = ((kept[name] ?? []) as JsonObject[]).filter(({ type }) => type !== 'Organization').map(statedReference);
		if (stated.length > 0) kept[name] = stated;
		else delete kept[name];
	}
	return kept;
}
