import type { JsonObject } from '#core/json.ts';
import type { Reference } from '#fhir/datatypes.ts';
import { toInstant } from '#fhir/mapping/timestamp.ts';
import { asConclusion, textForm } from '#fhir/report.ts';
import { valueIn } from '#hl7v3/datatypes/ts.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import { isObjectUid } from '#record/uid.ts';
import type { Draft } from './draft.ts';
import { plainText } from './narrative.ts';
import { accessionNumber } from './relations.ts';
import { laboratorySpecialties, type Section } from './sections.ts';
import { signatureOf } from './signature.ts';
import { concept, conformsTo, identifiersOf, idOf, isShort, named, put, type Reading, statementIn, timing } from './statement.ts';

/** Documents that are one report, by code and template. */
interface Discipline {
	/** LOINC. */
	codes: ReadonlySet<string>;
	templates: ReadonlySet<string>;
	/** HL7 table 0074. */
	category: { code: string; display: string };
}

const disciplines: readonly Discipline[] = [
	{
		// C-CDA R1.1 §3.4.1.1 and R2.1 §1.1.7: imaging reports by modality.
		codes: new Set([
			...['18748-4', '18747-6', '18755-9', '18760-9', '18757-5', '18758-3', '18745-0', '18746-8', '18751-8', '18753-4', '18742-7'],
			...['18744-3', '11525-3', '11540-2', '17787-3'],
		]),
		templates: new Set(['2.16.840.1.113883.10.20.22.1.5', '2.16.840.1.113883.10.20.6']),
		category: { code: 'RAD', display: 'Radiology' },
	},
	{
		codes: new Set(['11502-2', ...laboratorySpecialties]),
		templates: new Set(['1.3.6.1.4.1.19376.1.3.3', '1.3.6.1.4.1.19376.1.3.3.1']),
		category: { code: 'LAB', display: 'Laboratory' },
	},
	{ codes: new Set(['11526-1', '60567-5']), templates: new Set(), category: { code: 'SP', display: 'Surgical Pathology' } },
];

/** Tells whether a code stands for a diagnostic imaging report. */
export function isImagingCode(code: string): boolean {
	return disciplines[0]?.codes.has(code) ?? false;
}

/** The drafts of a section that no other draft contains. */
export type TopDrafts = ReadonlyMap<Section, readonly Draft[]>;

/**
 * The reports of a document as DiagnosticReport: one of a document that is a report as a whole (diagnostic imaging,
 * laboratory, pathology), else one for each section that is an impression.
 */
export function reports(document: XmlElement, sections: readonly Section[], tops: TopDrafts, reading: Reading): Draft[] {
	const discipline = disciplineOf(document, sections);
	if (discipline !== undefined) return [wholeReport(document, discipline, sections, tops, reading)].filter((found) => found !== undefined);
	const impressions = sections.filter(({ kind, isOwn, isOfOther }) => kind === 'impression' && isOwn && !isOfOther);
	if (impressions.length === 0) return [];
	const header = reportOf(document, [], reading);
	if (impressions.length > 1 && !isShort(header)) {
		reading.context.skipped(document, 'its orders, authors and custodian are too long to be repeated in each of its impressions');
		for (const element of ['identifier', 'basedOn', 'performer', 'resultsInterpreter']) delete header[element];
	}
	return impressions.map((section) => sectionReport(document, section, header, tops, reading)).filter((found) => found !== undefined);
}

function disciplineOf(document: XmlElement, sections: readonly Section[]): Discipline | undefined {
	const code = document.first('code')?.attribute('code') ?? '';
	const found = disciplines.find(({ codes, templates }) => codes.has(code) || conformsTo(document, templates));
	return found ?? (sections.some(({ kind, isOwn }) => kind === 'findings' && isOwn) ? disciplines[0] : undefined);
}

function wholeReport(
	document: XmlElement,
	discipline: Discipline,
	sections: readonly Section[],
	tops: TopDrafts,
	reading: Reading,
): Draft | undefined {
	const told = sections.filter(({ kind }) => kind !== 'catalog');
	const text = told.map(({ element }) => sectionText(element)).filter((part) => part !== '');
	const result = told.flatMap((section) => tops.get(section) ?? []).filter(isObservation);
	if (text.length === 0 && result.length === 0) return undefined;
	const title = document.first('title')?.text ?? '';
	const { category } = discipline;
	const resource = reportOf(document, sections, reading);
	resource['category'] = [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', ...category }] }];
	resource['code'] = concept(document.first('code'), reading) ?? { text: title || category.display };
	const impressions = told.filter(({ kind }) => kind === 'impression').map(({ element }) => textOf(element));
	put(resource, 'conclusion', asConclusion(impressions.filter((part) => part !== '').join('\n')));
	if (text.length > 0) resource['presentedForm'] = [textForm(text.join('\n\n'), title || undefined)];
	return { ...draftOf(document, 'report', resource, result), ...studiesOf(document, category.code, sections) };
}

function sectionReport(document: XmlElement, section: Section, header: JsonObject, tops: TopDrafts, reading: Reading): Draft | undefined {
	const text = textOf(section.element);
	const result = (tops.get(section) ?? []).filter(isObservation);
	if (text === '' && result.length === 0) return undefined;
	const title = section.element.first('title')?.text ?? '';
	const resource = { ...header };
	resource['code'] = concept(section.element.first('code'), reading) ?? { text: title || 'Impression' };
	put(resource, 'conclusion', asConclusion(text));
	if (text !== '') resource['presentedForm'] = [textForm(text, title || undefined)];
	return draftOf(document, section.place, resource, result);
}

function isObservation({ resourceType }: Draft): boolean {
	return resourceType === 'Observation';
}

function draftOf(document: XmlElement, place: string, resource: JsonObject, result: readonly Draft[]): Draft {
	// The set of the versions of a document is what stays when it is replaced.
	const id = [document.first('setId'), document.first('id')].map(idOf).find((found) => found !== undefined);
	return { resourceType: 'DiagnosticReport', id, place, resource, ...(result.length === 0 ? {} : { refers: { result } }) };
}

/** Reads what the header states about the report. */
function reportOf(document: XmlElement, sections: readonly Section[], reading: Reading): JsonObject {
	const { context } = reading;
	const resource: JsonObject = {};
	put(resource, 'identifier', identifiersOf(document, context));
	const orders = document.all('inFulfillmentOf', 'order').flatMap((order) => identifiersOf(order, context));
	put(
		resource,
		'basedOn',
		orders.map((identifier) => ({ type: 'ServiceRequest', identifier })),
	);
	resource['status'] = isPreliminary(document, sections) ? 'preliminary' : 'final';
	const services = document.all('documentationOf', 'serviceEvent').map((service) => timing(service.first('effectiveTime'), context));
	const written = document.first('effectiveTime');
	const { dateTime, period } = services.find((one) => one.dateTime ?? one.period) ?? timing(written, context);
	put(resource, 'effectiveDateTime', dateTime);
	put(resource, 'effectivePeriod', period);
	put(resource, 'issued', toInstant(valueIn(written) ?? '', context.zone));
	const custodian = document.first('custodian', 'assignedCustodian', 'representedCustodianOrganization', 'name')?.text;
	if (custodian) resource['performer'] = [{ type: 'Organization', display: custodian }];
	put(resource, 'resultsInterpreter', interpreters(document, reading));
	return resource;
}

/** Returns the signers, else the authors. */
function interpreters(document: XmlElement, { context }: Reading): Reference[] {
	const legal = document.first('legalAuthenticator');
	const signed = signatureOf(legal) === 'awaited' ? undefined : named(legal?.first('assignedEntity'), context);
	const people = signed ? [signed] : document.all('author', 'assignedAuthor').map((author) => named(author, context));
	return people.filter((person) => person !== undefined).filter(({ type }) => type === 'Practitioner');
}

/** IHE Laboratory TF-3 §2.3: a report that is not final says so of its service event, or of a specialty. */
function isPreliminary(document: XmlElement, sections: readonly Section[]): boolean {
	if (signatureOf(document.first('legalAuthenticator')) === 'awaited') return true;
	const states = document
		.all('documentationOf', 'serviceEvent')
		.flatMap(({ content }) => content.filter((node) => typeof node !== 'string' && node.name === 'statusCode'))
		.concat(sections.filter(({ kind }) => kind === 'results').flatMap(({ element }) => element.all('entry', 'act', 'statusCode')));
	return states.some((state) => typeof state !== 'string' && state.attribute('code') === 'active');
}

/**
 * C-CDA Study Act: the study's UID is the root of its id. An imaging report without one is about the study of the order that it
 * fulfils, whose id is the accession number.
 */
function studiesOf(document: XmlElement, category: string, sections: readonly Section[]): Pick<Draft, 'studies'> {
	const named = sections
		.filter(({ kind }) => kind === 'catalog')
		.flatMap(({ element }) => element.children('entry'))
		.flatMap((entry) => statementIn(entry)?.first('id')?.attribute('root') ?? [])
		.filter((uid) => isObjectUid(uid));
	const uids = [...new Set(named)];
	const accession = category === 'RAD' ? accessionNumber(document) : undefined;
	return uids.length === 0 && accession === undefined ? {} : { studies: { uids, accession } };
}

function textOf(section: XmlElement): string {
	const text = section.first('text');
	return text === undefined ? '' : plainText(text);
}

function sectionText(section: XmlElement): string {
	const text = textOf(section);
	return text === '' ? '' : [section.first('title')?.text ?? '', text].filter((part) => part !== '').join('\n');
}
