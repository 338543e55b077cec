import type { JsonObject } from '#core/json.ts';
import { asText } from './elements.ts';
import { conceptCode, conceptText, momentOf } from './summaries.ts';

/** A resource as a row of a list that people read. What is not there is an empty text. */
export interface ChartRow {
	/** A FHIR date or dateTime. */
	at: string | null;
	code: string;
	text: string;
	status: string;
	detail: string;
}

/** The list of a resource type on the page of a patient. */
export interface Chart<List extends string = string> {
	/** Its name in the answer of `patient show`. */
	list: List;
	/** Of its tab, and of one row. */
	title: string;
	noun: string;
	/** Tabs are in this order. */
	position: number;
	/** Search parameters: what comes first, and what of a resource is read. */
	sort: string;
	summary?: 'true';
	row(resource: JsonObject): ChartRow;
}

/** A row of what has a code and a status; `moments` are the elements that say when, the first that is there counts. */
export function codedRow(resource: JsonObject, ...moments: string[]): ChartRow {
	return {
		at: momentOf(resource, ...moments),
		code: conceptCode(resource['code']),
		text: conceptText(resource['code']),
		status: asText(resource['status']) ?? '',
		detail: '',
	};
}
