import type { JsonObject } from '#core/json.ts';
import { asText } from './elements.ts';
import { conceptCode, conceptText, momentOf } from './summaries.ts';

/** A resource as a row of a list that people read. A missing value is an empty text. */
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
	/** The title of its tab, and the noun for one row. */
	title: string;
	noun: string;
	/** Tabs are sorted by this. */
	position: number;
	/** Search parameters: the order of the rows, and the part of each resource that is read. */
	sort: string;
	summary?: 'true';
	row(resource: JsonObject): ChartRow;
}

/** Builds a row for a resource with a code and a status. `moments` are its date elements; the first one present counts. */
export function codedRow(resource: JsonObject, ...moments: string[]): ChartRow {
	return {
		at: momentOf(resource, ...moments),
		code: conceptCode(resource['code']),
		text: conceptText(resource['code']),
		status: asText(resource['status']) ?? '',
		detail: '',
	};
}
