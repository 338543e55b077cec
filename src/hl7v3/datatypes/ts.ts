import type { Period } from '#fhir/datatypes.ts';
import { periodOf } from '#fhir/mapping/period.ts';
import { timeLater, toDateTime } from '#fhir/mapping/timestamp.ts';
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

/** IVL<TS> (Data Types R1 §2.34); a point in time, or its center alone, is no period. */
export function period(element: XmlElement | undefined, context: Context): Period | undefined {
	const stated = { start: time(element?.first('low'), context), end: time(element?.first('high'), context) };
	const { start, end } = element?.first('width') === undefined ? stated : derived(element, stated, context);
	const found = periodOf(start, end);
	if (element !== undefined && found?.end !== end) context.unreadable(element, 'ends before it begins; the end was left out');
	return found;
}

interface Bounds {
	start: string | undefined;
	end: string | undefined;
}

/** Two of low, high, center and width give the others; a width that gives none is noted. */
function derived(element: XmlElement, stated: Bounds, context: Context): Bounds {
	const { start, end } = stated;
	const width = element.first('width');
	const length = valueIn(width);
	if (width === undefined || length === undefined || (start !== undefined && end !== undefined)) return stated;
	const amount = /^\d{1,9}(\.\d{1,6})?$/.test(length) ? Number(length) : Number.NaN;
	const later = (part: string, times: number) =>
		timeLater(valueIn(element.first(part)) ?? '', times * amount, width.attribute('unit'), context.zone);
	const isCentred = start === undefined && end === undefined;
	const found = isCentred
		? { start: later('center', -0.5), end: later('center', 0.5) }
		: { start: start ?? later('high', -1), end: end ?? later('low', 1) };
	if (found.start !== undefined && found.end !== undefined) return found;
	context.unreadable(width, 'gives no time with what stands beside it and was left out');
	return stated;
}

/** The codes of a set-valued attribute such as `use`. */
export function codesOf(element: XmlElement, attribute: string): string[] {
	return element
		.attribute(attribute)
		.split(/\s+/)
		.filter((code) => code !== '');
}
