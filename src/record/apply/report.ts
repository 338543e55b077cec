import { Failure } from '#core/failure.ts';
import { canonical, type Json, type JsonObject } from '#core/json.ts';
import type { ReportChange } from '../change-set.ts';
import { diagnosticReports } from '../holdings/diagnostic-reports.ts';
import { orderKey } from '../holdings/orders.ts';
import { indexText } from '../index-text.ts';
import { type ContentChange, isWithdrawn, nextStatus, wholeOrder } from '../report.ts';
import type { ApplyContext } from './context.ts';
import { memberIdOf, type ReservedIds } from './observation.ts';
import { absentStudyReference, studiesNamed, studyReference } from './report-studies.ts';
import { revise } from './revise.ts';
import { newRow, type Row, referenceTo, resourceOf } from './rows.ts';

/**
 * Creates the report of an order, or a new version of it. What is completed becomes no draft again, and what a message
 * does not say anew stays.
 */
export function applyResultReport(
	context: ApplyContext,
	change: ReportChange,
	patient: Row,
	encounter: Row | undefined,
	reserved: ReservedIds,
): void {
	const known = knownReport(context, change, patient);
	const held = known && resourceOf(known);
	const resource = composed(context, change, patient, encounter, held, reserved);
	const status = nextStatus(held?.['status'] as string | undefined, change.status, contentChange(held, resource));
	if (status === 'late') {
		context.flags.push({ code: 'late-report', text: 'OBR-25 states a draft of a report that is completed; the report stays as it is' });
		return;
	}
	const isWithdrawal = held !== undefined && isWithdrawn(status.status);
	const content: JsonObject = isWithdrawal ? { ...held, ...status } : { ...resource, ...status };
	const text = JSON.stringify(content);
	const links = linksOf(change, patient, encounter, known);
	const row = known
		? revise(context, known, held !== undefined && canonical(held) === canonical(content) ? known.text : text, content, links)
		: newRow(context, { resourceType: 'DiagnosticReport', id: context.newId(), text, resource: content, links });
	if (row === known) return;
	if (known === undefined) context.changed.push(row);
	context.set.of(diagnosticReports).put(row);
}

/** @throws Failure when the order belongs to another patient: orders do not change hands */
function knownReport({ set }: ApplyContext, { key, sequence }: ReportChange, patient: Row): Row | undefined {
	if (key === undefined) return undefined;
	const all = set.of(diagnosticReports).ofOrder(orderKey(key.order));
	const own = all.filter((row) => row.links['patient_id'] === patient.id);
	if (own.length === 0 && all.length > 0 && !key.byPatient) {
		throw new Failure('key-conflict', 'OBR-3 (else OBR-2) names an order that belongs to another patient of this site', {
			location: { segment: 'OBR', sequence },
		});
	}
	// After a merge several may be known; the newest is the one that is spoken of.
	const newestFirst = own.toSorted((left, right) => (left.id < right.id ? 1 : -1));
	const same = newestFirst.find((row) => row.links['item_key'] === key.item);
	if (same) return same;
	const [only] = newestFirst;
	return newestFirst.length === 1 && (key.item === wholeOrder || only?.links['item_key'] === wholeOrder) ? only : undefined;
}

function composed(
	context: ApplyContext,
	change: ReportChange,
	patient: Row,
	encounter: Row | undefined,
	held: JsonObject | undefined,
	reserved: ReservedIds,
): JsonObject {
	const resource: JsonObject = { ...change.resource, subject: { reference: referenceTo(patient) } };
	const visit = encounter ? { reference: referenceTo(encounter) } : held?.['encounter'];
	if (visit !== undefined) resource['encounter'] = visit;
	const results = resultsOf(context, change, held, reserved);
	if (results.length > 0) resource['result'] = results;
	const studies = imagingStudies(context, change, patient);
	if (studies.length > 0) resource['imagingStudy'] = studies;
	else if (held?.['imagingStudy'] !== undefined) resource['imagingStudy'] = held['imagingStudy'];
	if (resource['presentedForm'] !== undefined || resource['conclusion'] !== undefined) return resource;
	// A message without a text confirms or moves on the report that was sent with one.
	for (const name of ['conclusion', 'presentedForm']) if (held?.[name] !== undefined) resource[name] = held[name];
	return resource;
}

/** What the message reports, behind what earlier ones did: a laboratory sends the results of an order as they come. */
function resultsOf(context: ApplyContext, change: ReportChange, held: JsonObject | undefined, reserved: ReservedIds): Json[] {
	const { order, items } = change.observations;
	const key = order && orderKey(order);
	const stated = items.map((item) => `Observation/${memberIdOf(context, item, key, reserved)}`);
	// Observations of no order are new with every message; those of the last one stand for it.
	const before = key === undefined && stated.length > 0 ? [] : ((held?.['result'] ?? []) as JsonObject[]);
	const known = new Set(before.map((reference) => reference['reference']));
	return [...before, ...[...new Set(stated)].filter((reference) => !known.has(reference)).map((reference) => ({ reference }))];
}

function imagingStudies({ set, flags }: ApplyContext, { study }: ReportChange, patient: Row): JsonObject[] {
	const { studies, isForeign } = studiesNamed(set, study, patient.id);
	if (isForeign) flags.push({ code: 'other-patient', text: 'OBR names a study of another patient; the report is not joined to it' });
	if (studies.length > 0) return studies.map(studyReference);
	return study.uid === undefined || isForeign ? [] : [absentStudyReference(study.uid)];
}

function linksOf({ key, study }: ReportChange, patient: Row, encounter: Row | undefined, known: Row | undefined): Row['links'] {
	const kept = known?.links;
	const cut = (text: string | undefined) => (text === undefined ? null : indexText(text));
	return {
		patient_id: patient.id,
		encounter_id: encounter?.id ?? kept?.['encounter_id'] ?? null,
		item_key: key?.item ?? null,
		order_key: key === undefined ? null : orderKey(key.order),
		study_uid: study.uid ?? kept?.['study_uid'] ?? null,
		accession_number: cut(study.accession) ?? kept?.['accession_number'] ?? null,
		filler_number: cut(study.filler) ?? kept?.['filler_number'] ?? null,
	};
}

/** What makes no other report of it: where it belongs, and when it was sent. */
const circumstances = ['status', 'issued', 'imagingStudy', 'encounter', 'subject', 'identifier'];

function contentChange(held: JsonObject | undefined, next: JsonObject): ContentChange {
	if (held === undefined) return 'none';
	const [before, after] = [content(held), content(next)];
	if (canonical(before) === canonical(after)) return 'none';
	// Results are only ever added.
	return canonical({ ...before, result: null }) === canonical({ ...after, result: null }) ? 'added' : 'changed';
}

function content(resource: JsonObject): JsonObject {
	return Object.fromEntries(Object.entries(resource).filter(([name]) => !circumstances.includes(name)));
}
