import type { Period } from '#fhir/datatypes.ts';
import { periodOf } from '#fhir/mapping/period.ts';
import { toDateTime } from '#fhir/mapping/timestamp.ts';
import type { Context } from '../context.ts';
import type { XmlElement } from '../element.ts';

/** The text of `@value`; undefined for nullFlavor and without one, which both say nothing. */
export function valueIn(element: XmlElement | undefined): string | undefined {
	if (element === undefined || element.isNull) return undefined;
	return element.attribute('value') || undefined;
}

/** TS (Data Types R1 §2.30) as dateTime; flagged when it is not one. */
export function time(element: XmlElement | undefined, context: Context): string | undefined {
	const text = valueIn(element);
	if (element === undefined || text === undefined) return undefined;
	const read = toDateTime(text, context.zone);
	if (read === undefined) context.unreadable(element, 'is not a time and was left out');
	return read;
}

/** BL (Data Types R1 §2.2); flagged when it is not one. */
export function flag(element: XmlElement | undefined, context: Context): boolean | undefined {
	const text = valueIn(element);
	if (element === undefined || text === undefined) return undefined;
	if (text === 'true' || text === '1') return true;
	if (text === 'false' || text === '0') return false;
	context.unreadable(element, 'is neither true nor false and was left out');
	return undefined;
}

/** IVL<TS> of a name, address or telecom (useablePeriod, validTime); a point in time is no period. */
export function period(element: XmlElement | undefined, context: Context): Period | undefined {
	const start = time(element?.first('low'), context);
	const end = time(element?.first('high'), context);
	const found = periodOf(start, end);
	if (element !== undefined && found?.end !== end) context.unreadable(element, 'ends before it begins; the end was left out');
	return found;
}

/** The codes of a set-valued attribute such as `use`. */
export function codesOf(element: XmlElement, attribute: string): string[] {
	return element
		.attribute(attribute)
		.split(/\s+/)
		.filter((code) => code !== '');
}
