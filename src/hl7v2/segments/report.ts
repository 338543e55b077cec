import { canonical, type Json, type JsonObject } from '#core/json.ts';
import type { Attachment, CodeableConcept, Identifier, Quantity, Reference } from '#fhir/datatypes.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { asConclusion, textForm } from '#fhir/report.ts';
import type { DiagnosticReportChange } from '#record/kinds/diagnostic-report.ts';
import { wholeOrder } from '#record/report.ts';
import { attachmentsOf, headingOf, joinedSections, type ReportSection } from '#record/report-text.ts';
import { isObjectUid } from '#record/uid.ts';
import type { Segment } from '../message.ts';
import { type Context, keyLengthMax } from './context.ts';
import { type EntityIdentifier, typedIdentifier } from './datatypes/ei.ts';
import { sendingFacility } from './facility.ts';
import { type GroupOwner, namedPerson, type OrderContext } from './obr.ts';
import type { Observed } from './obx.ts';
import { numbered, type Ordinals } from './ordinals.ts';
import { reportItem } from './result-item.ts';
import { originalText, withUnit } from './stated-number.ts';

interface Group extends GroupOwner {
	observed: readonly Observed[];
	/** The item of each observation within the order. */
	items: readonly string[];
}

/** Converts an OBR to DiagnosticReport (v2-to-FHIR guide, OBR[DiagnosticReport]), with the OBX after it and the names of its study. */
export class ReportReading {
	readonly #obr: Segment;
	readonly #order: OrderContext;
	readonly #sender: string;
	readonly #context: Context;
	#studyUid: string | undefined;
	#accession: string | undefined;

	constructor(obr: Segment, order: OrderContext, sender: string, context: Context) {
		this.#obr = obr;
		this.#order = order;
		this.#sender = sender;
		this.#context = context;
	}

	/** ZDS-1 (IHE RAD TF-2 §4.4); IPC-1 and IPC-3 (v2.5.1 §4.5.6). */
	addStudy(segment: Segment): void {
		const isZds = segment.id === 'ZDS';
		const uid = segment.text(isZds ? 1 : 3).trim();
		if (uid !== '' && !isObjectUid(uid)) this.#context.unreadable(segment, isZds ? 1 : 3, 'is no UID and was left out');
		if (isObjectUid(uid)) this.#studyUid ??= uid;
		if (!isZds) this.#accession ??= segment.text(1).trim() || undefined;
	}

	/** Undefined when the OBR states neither the subject of the report nor a result. */
	change({ observed, items, patient, encounter, ordinals }: Group): DiagnosticReportChange | undefined {
		const { order, filler, code, parent } = this.#order;
		if (code === undefined && observed.length === 0) return undefined;
		const uid = this.#studyUid ?? statedUid(observed);
		const isImaging = uid !== undefined || this.#accession !== undefined || this.#order.category?.[0]?.coding?.[0]?.code === 'imaging';
		const accession = this.#accession ?? (this.#obr.text(18).trim() || this.#obr.text(20).trim() || undefined);
		const inForce = observed.filter((found) => !isInError(found));
		const addendum = addendumOf(inForce, isImaging);
		const key = this.#key(accession, isImaging ? wholeOrder : reportItem(code, parent?.prefix), ordinals);
		return {
			kind: 'diagnostic-report',
			patient,
			...(encounter === undefined ? {} : { encounter }),
			...(key === undefined ? {} : { key }),
			observations: { ...(order === undefined ? {} : { order }), items },
			status: this.#status(),
			resource: this.#resource(observed, inForce, isImaging ? accession : undefined, isImaging),
			...(addendum === undefined ? {} : { addendum }),
			...(observed.some((found) => isInError(found) && mayBeWords(found)) ? { withdrawsWords: true } : {}),
			sent: this.#context.sent,
			...(this.#order.numbered === undefined ? {} : { numberedAt: this.#order.numbered }),
			study: { uid, accession, filler: filler?.value },
			sequence: this.#obr.sequence,
		};
	}

	/** Returns the order's number, else the accession number, which distinguishes the reports of one patient. */
	#key(accession: string | undefined, item: string, ordinals: Ordinals): DiagnosticReportChange['key'] {
		const { order } = this.#order;
		const used: EntityIdentifier | undefined =
			order ??
			(accession === undefined || accession.length > keyLengthMax ? undefined : { system: `accession ${this.#sender}`, value: accession });
		if (used === undefined) return undefined;
		const unique = numbered(item, `report ${used.system}|${used.value}`, ordinals);
		return { order: used, byPatient: order === undefined, item: unique, isWhole: item === wholeOrder, isRepeated: unique !== item };
	}

	#status(): string {
		const code = this.#obr.text(25).trim().toUpperCase();
		const status = code === '' ? 'unknown' : entryOf(statuses, code);
		if (status === undefined) this.#context.unreadable(this.#obr, 25, 'has a code that table 0123 does not list; read as unknown');
		return status ?? 'unknown';
	}

	#resource(observed: readonly Observed[], inForce: readonly Observed[], accession: string | undefined, isImaging: boolean): JsonObject {
		const { filler, placer, basedOn, category, code, specimen, issued } = this.#order;
		const resource: JsonObject = {};
		const identifier: Identifier[] = [];
		if (placer) identifier.push(typedIdentifier(placer, 'PLAC'));
		if (filler) identifier.push(typedIdentifier(filler, 'FILL'));
		if (accession !== undefined) identifier.push(typedIdentifier({ system: '', value: accession }, 'ACSN'));
		if (identifier.length > 0) resource['identifier'] = identifier;
		if (basedOn) resource['basedOn'] = basedOn;
		if (category) resource['category'] = category;
		resource['code'] = code ?? unnamed;
		if (this.#order.effectivePeriod) resource['effectivePeriod'] = this.#order.effectivePeriod;
		else if (this.#order.effectiveDateTime !== undefined) resource['effectiveDateTime'] = this.#order.effectiveDateTime;
		if (issued !== undefined) resource['issued'] = issued;
		const performers = people(this.#obr, this.#context, 34, 35);
		const facility = performers.length === 0 ? sendingFacility(this.#context) : undefined;
		if (facility !== undefined) performers.push(facility);
		if (performers.length > 0) resource['performer'] = performers;
		const interpreters = people(this.#obr, this.#context, 32, 33);
		if (interpreters.length > 0) resource['resultsInterpreter'] = interpreters;
		const specimens = specimensOf(observed, specimen);
		if (specimens.length > 0) resource['specimen'] = specimens;
		addText(resource, inForce, code?.text, isImaging);
		return resource;
	}
}

/** Table 0123 → diagnostic-report-status; where the guide has no target the choice is ours. */
const statuses: Readonly<Record<string, string>> = {
	A: 'partial',
	C: 'corrected',
	F: 'final',
	I: 'registered',
	O: 'registered',
	P: 'preliminary',
	R: 'partial',
	S: 'registered',
	X: 'cancelled',
	Y: 'unknown',
	Z: 'unknown',
};

/** DiagnosticReport.code is required; OBR-4 may be empty. */
const unnamed: JsonObject = {
	extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
};

/** Codes of OBX-3 under which the Study Instance UID is sent: Study Instance UID, DICOM Study (PS3.16), and the element itself. */
const studyUidCodes: ReadonlySet<string> = new Set(['110180', '113014', '0020000D']);

function isStudyUid({ obx }: Observed): boolean {
	return studyUidCodes.has(obx.text(3).trim().toUpperCase()) || studyUidCodes.has(obx.text(3, 4).trim().toUpperCase());
}

function statedUid(observed: readonly Observed[]): string | undefined {
	for (const found of observed.filter(isStudyUid)) {
		for (const component of [1, 2]) {
			const text = found.obx.text(5, component).trim();
			if (isObjectUid(text)) return text;
		}
	}
	return undefined;
}

/** Returns the specimens of the observations, to which SPM assigns them; without observations, that of the order. */
function specimensOf(observed: readonly Observed[], ordered: Reference | undefined): Reference[] {
	const distinct = new Map<string, Reference>();
	for (const { resource } of observed) {
		const specimen = resource['specimen'] as Reference | undefined;
		if (specimen) distinct.set(canonical(specimen), specimen);
	}
	return distinct.size === 0 && ordered ? [ordered] : [...distinct.values()];
}

function people(obr: Segment, context: Context, ...fields: number[]): Reference[] {
	return fields.flatMap((field) => {
		const repetitions = obr.isPresent(field) ? obr.repetitions(field) : 0;
		return Array.from({ length: repetitions }, (_, repetition) => namedPerson(obr, field, context, repetition)).filter(
			(reference) => reference !== undefined,
		);
	});
}

/** What is deleted or was posted as wrong (table 0085: D, W) is no part of the report for people, though the message may carry its text. */
function isInError({ resource }: Observed): boolean {
	return resource['status'] === 'entered-in-error';
}

/** Tells whether an OBX, which may come without its value, may have been part of the report for people. */
function mayBeWords(found: Observed): boolean {
	return !isStudyUid(found) && (['TX', 'FT', 'ST', 'ED', 'RP', ''].includes(found.type) || hasImpressionCode(found));
}

/** The report for people: its text, the documents that were sent, and the impression. */
function addText(resource: JsonObject, observed: readonly Observed[], title: string | undefined, isImaging: boolean): void {
	const sections = observed.filter((found) => isNarrative(found, isImaging) || isBlankLine(found));
	const forms: Attachment[] = [];
	const text = joinedSections(sections.map(sectionOf));
	if (text !== '') forms.push(textForm(text, title));
	for (const found of observed) forms.push(...attachmentsOf(found.resource).map((form) => ({ ...form, ...(title ? { title } : {}) })));
	if (forms.length > 0) resource['presentedForm'] = forms;
	const impression = asConclusion(
		observed
			.filter(isImpression)
			.map(textOf)
			.filter((part) => part !== '')
			.join('\n'),
	);
	if (impression !== undefined) resource['conclusion'] = impression;
}

/** Tells whether an OBX is narrative. From a laboratory only text types are, because a short string is a result like a number. */
function isNarrative(found: Observed, isImaging: boolean): boolean {
	if (textOf(found) === '' || isStudyUid(found)) return false;
	return found.type === 'TX' || found.type === 'FT' || (isImaging && (found.type === 'ST' || found.type === ''));
}

/** A line of its own that parts two paragraphs. */
function isBlankLine(found: Observed): boolean {
	return (found.type === 'TX' || found.type === 'FT') && !found.statusOnly && found.subId !== '' && textOf(found) === '';
}

function textOf({ resource }: Observed): string {
	const value = resource['valueString'] ?? writtenQuantity(resource['valueQuantity']);
	return typeof value !== 'string' || value.trim() === '' ? '' : value.trimEnd();
}

/** A number that was sent as a text is part of the report's text. */
function writtenQuantity(value: Json | undefined): string | undefined {
	const { extension, unit } = (value ?? {}) as Quantity;
	const written = extension?.find(({ url }) => url === originalText)?.valueString;
	return written === undefined ? undefined : withUnit(written, unit === undefined ? {} : { unit });
}

function sectionOf(found: Observed): ReportSection {
	return { heading: headingOf(found.resource['code'] as CodeableConcept), text: textOf(found) };
}

/** Returns the text of a message that only adds to a report: all that it says is an addendum. */
function addendumOf(observed: readonly Observed[], isImaging: boolean): string | undefined {
	const said = observed.filter((found) => isNarrative(found, isImaging) || isImpression(found));
	if (said.length === 0 || !said.every(isAddendum)) return undefined;
	return joinedSections(said.map(sectionOf), { isAlwaysHeaded: true });
}

/** LOINC and DICOM codes of an impression or conclusion, and the suffix of observation ids (v2.5.1 §7.2.4.2). */
const impressionCodes: ReadonlySet<string> = new Set(['19005-8', '55110-1', '121073', '121077', 'IMP', 'IMPRESSION', 'CONCLUSION']);
const impressionName = /^(?:impression|conclusion)s?\s*:?$/i;

function isImpression(found: Observed): boolean {
	return textOf(found) !== '' && !isStudyUid(found) && hasImpressionCode(found);
}

function hasImpressionCode(found: Observed): boolean {
	return codesOf(found).some((code) => impressionCodes.has(code)) || impressionName.test(nameOf(found));
}

/** LOINC and DICOM codes of an addendum, and the suffix of observation ids (v2.5.1 §7.2.4.2). */
const addendumCodes: ReadonlySet<string> = new Set(['55107-7', '121078', 'ADT', 'ADDENDUM']);
const addendumName = /^addend(?:um|a)\b/i;

function isAddendum(found: Observed): boolean {
	return codesOf(found).some((code) => addendumCodes.has(code)) || addendumName.test(nameOf(found));
}

/** The codes of OBX-3 and their suffixes. */
function codesOf({ obx }: Observed): string[] {
	return [obx.text(3), obx.text(3, 1, 0, 2), obx.text(3, 4), obx.text(3, 4, 0, 2)].map((code) => code.trim().toUpperCase());
}

function nameOf({ resource }: Observed): string {
	return headingOf(resource['code'] as CodeableConcept).trim();
}
