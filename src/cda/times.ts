import type { Period } from '#fhir/datatypes.ts';
import { toDateTime, toInstantOrMidnight } from '#fhir/mapping/timestamp.ts';
import type { Context } from '#hl7v3/context.ts';
import { period, time, valueIn } from '#hl7v3/datatypes/ts.ts';
import type { XmlElement } from '#hl7v3/element.ts';

/** When a document was made. */
export interface DocumentTime {
	/** FHIR dateTime, as precise as it was sent; undefined when it is not there, or is no time. */
	dateTime: string | undefined;
	/** FHIR instant; a day is its midnight. Undefined where only a month or year is known. */
	instant: string | undefined;
	/** ISO 8601 in UTC, by which documents are put in order; '' when it is not known. */
	order: string;
}

export function documentTime(element: XmlElement | undefined, context: Context): DocumentTime {
	const dateTime = time(element, context);
	const text = valueIn(element);
	if (dateTime === undefined || text === undefined) return { dateTime: undefined, instant: undefined, order: '' };
	const instant = toInstantOrMidnight(text, context.zone);
	return { dateTime, instant, order: new Date(instant ?? dateTime).toISOString() };
}

/** IVL<TS> as Period; a point in time is a period that begins and ends with it. */
export function extent(element: XmlElement | undefined, context: Context): Period | undefined {
	const point = valueIn(element);
	if (element === undefined || point === undefined) return period(element, context);
	const moment = toDateTime(point, context.zone);
	return moment === undefined ? period(element, context) : { start: moment, end: moment };
}
