import type { Json } from '#core/json.ts';
import type { ReportEdit } from '#record/report.ts';
import { reportTextType } from '#record/report-text.ts';
import type { Attachment, CodeableConcept } from './datatypes.ts';

/** Longer texts are only in the presented form (FHIR R4 §2.24.0.1: a string has at most 1 MB). */
const stringBytesMax = 1024 * 1024;

/** A report as text, in DiagnosticReport.presentedForm. */
export function textForm(text: string, title: string | undefined): Attachment {
	return { contentType: reportTextType, data: Buffer.from(text, 'utf8').toString('base64'), ...(title ? { title } : {}) };
}

export function asConclusion(text: string): string | undefined {
	return text.trim() === '' || Buffer.byteLength(text) > stringBytesMax ? undefined : text;
}

const radiology: CodeableConcept = {
	coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'RAD', display: 'Radiology' }],
};

/** The code of a report about which nothing else is stated. */
const imagingReport = { system: 'http://loinc.org', code: '18748-4', display: 'Diagnostic imaging study' };

/** Converts the edit to elements of a DiagnosticReport; `null` removes an element. */
export function elementsOf(edit: ReportEdit): Record<string, Json> {
	const { title, text, author, conclusion, pdf } = edit;
	const elements: Record<string, Json> = {};
	if (edit.operation === 'add') {
		elements['category'] = [radiology];
		elements['code'] = { coding: [imagingReport], ...(title === undefined ? {} : { text: title }) };
	} else if (title !== undefined) {
		elements['code.text'] = title;
	}
	if (author !== undefined) elements['resultsInterpreter'] = [{ type: 'Practitioner', display: author }];
	if (text !== undefined) {
		// A new text replaces everything: a conclusion or document with other content must not stay beside it.
		elements['conclusion'] = conclusion ?? null;
		elements['presentedForm'] = [textForm(text, title), ...(pdf === undefined ? [] : [pdfForm(pdf, title)])];
	}
	return elements;
}

function pdfForm(data: string, title: string | undefined): Attachment {
	return { contentType: 'application/pdf', data, ...(title ? { title } : {}) };
}
