import type { ImagingAttribute, ImagingClause, NameGroup } from '#record/imaging-query.ts';
import { dateOf, textOf } from '../values.ts';
import { type Matching, queryAttributes } from './attributes.ts';
import { systemsOfIssuer } from './issuer.ts';

/** A key has a value that its attribute cannot be matched with. The text is ASCII and names the attribute, never the value. */
export class MatchingError extends Error {
	override readonly name = 'MatchingError';
}

type TextClause = Extract<ImagingClause, { kind: 'equals' | 'like' }>;

interface Range {
	from: string | undefined;
	to: string | undefined;
}

/**
 * The clauses of a key with its decoded value (PS3.4 C.2.2.2); none: universal matching. A name has one for each component group.
 * @throws MatchingError
 */
export function clausesOf(attribute: ImagingAttribute, value: string, fuzzyNames = false): ImagingClause[] {
	const { matching } = queryAttributes[attribute];
	const clauses = matching === 'name' ? nameClauses(attribute, textOf(value) ?? '', fuzzyNames) : [clauseOf(attribute, value, matching)];
	return clauses.filter((clause) => clause !== undefined);
}

function nameClauses(attribute: ImagingAttribute, value: string, fuzzyNames: boolean): (ImagingClause | undefined)[] {
	return fuzzyNames ? [wordsClause(attribute, value)] : nameGroups.map((group) => nameClause(attribute, value, group));
}

/** Lists are taken for every attribute but names, dates and times, which is more than C.2.2.2.2 asks. @throws MatchingError */
function clauseOf(attribute: ImagingAttribute, value: string, matching: Exclude<Matching, 'name'>): ImagingClause | undefined {
	if (matching === 'none') return undefined;
	const values = value.split('\\').flatMap((text) => textOf(text) ?? []);
	const [first] = values;
	// An asterisk means any value, for UIDs, dates and numbers too, as some clients have it.
	if (first === undefined || values.some((text) => /^\*+$/.test(text))) return undefined;
	switch (matching) {
		case 'uid':
			return { kind: 'equals', attribute, values };
		case 'issuer':
			return { kind: 'equals', attribute, values: values.flatMap(systemsOfIssuer), asked: values };
		case 'date':
		case 'time':
			return { kind: 'range', attribute, ...rangeOf(attribute, first, matching) };
		case 'integer':
			return { kind: 'integer', attribute, values: values.map((text) => integerOf(attribute, text)) };
		default:
			return textClause(attribute, values);
	}
}

function textClause(attribute: ImagingAttribute, values: readonly string[]): TextClause {
	return values.some((text) => /[*?]/.test(text)) ? { kind: 'like', attribute, patterns: values } : { kind: 'equals', attribute, values };
}

/** Fuzzy matching of a name (C.2.2.2.1.1): its words in any order and of any component, each from its start. */
function wordsClause(attribute: ImagingAttribute, value: string): ImagingClause | undefined {
	const words = value.split(/[\^=,\s]+/).filter((word) => !/^[*?]*$/.test(word));
	return words.length === 0 ? undefined : { kind: 'words', attribute, words };
}

const nameGroups: readonly NameGroup[] = [0, 1, 2];

/** Each component group is matched by itself; empty components at its end do not count (PS3.5 §6.2.1). */
function nameClause(attribute: ImagingAttribute, value: string, group: NameGroup): ImagingClause | undefined {
	const components = (value.split('=')[group] ?? '').split('^').map((component) => textOf(component) ?? '');
	const name = components.join('^').replace(/\^+$/, '');
	// A component that matches any value may be absent, together with its delimiter.
	const shorter = name.replace(/(?:\^\*+)+$/, '');
	if (/^\**$/.test(shorter)) return undefined;
	return { ...textClause(attribute, shorter === name ? [name] : [shorter, name]), group };
}

function integerOf(attribute: ImagingAttribute, text: string): number {
	const value = /^[+-]?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
	if (Math.abs(value) <= 0x7f_ff_ff_ff) return value;
	throw new MatchingError(`${attribute} is not an integer`);
}

/** Range matching (C.2.2.2.5); a single value is a range of one, and a time of less precision one of a minute or an hour. */
function rangeOf(attribute: ImagingAttribute, text: string, matching: 'date' | 'time'): Range {
	const match = /^([^-]*)(-?)([^-]*)$/.exec(text.replaceAll(' ', ''));
	const [, before = '', hyphen = '', after = ''] = match ?? [];
	const end = hyphen === '' ? before : after;
	if (!match || (before === '' && end === '')) throw new MatchingError(`${attribute} is not a ${matching} or a range of them`);
	const bound = (value: string, isEnd: boolean) => {
		if (value === '') return undefined;
		const bounded = matching === 'date' ? dateOf(value) : timeBound(value, isEnd);
		if (bounded === undefined) throw new MatchingError(`${attribute} is not a ${matching} or a range of them`);
		return bounded;
	};
	return { from: bound(before, false), to: bound(end, true) };
}

/** Times count to the second, as the index keeps them. */
function timeBound(text: string, isEnd: boolean): string | undefined {
	const match = /^(\d\d)(?::?(\d\d)(?::?(\d\d)(?:\.\d{1,6})?)?)?$/.exec(text);
	if (!match) return undefined;
	const fill = isEnd ? '59' : '00';
	const [, hour = '', minute = fill, second = fill] = match;
	if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
	return `${hour}:${minute}:${second === '60' ? '59' : second}`;
}

const moments = [
	{ of: 'study', date: 'StudyDate', time: 'StudyTime' },
	{ of: 'series', date: 'SeriesDate', time: 'SeriesTime' },
] as const;

function start(date: string | undefined, time: string | undefined): string | undefined {
	return date !== undefined && time !== undefined ? `${date}T${time}` : date;
}

/** Combined datetime matching (C.2.2.2.5): the range of a date and that of its time are one range of moments. */
export function withCombinedMoments(clauses: readonly ImagingClause[]): ImagingClause[] {
	let combined = [...clauses];
	for (const { of, date, time } of moments) {
		const dates = combined.find((clause) => clause.kind === 'range' && clause.attribute === date);
		const times = combined.find((clause) => clause.kind === 'range' && clause.attribute === time);
		if (dates?.kind !== 'range' || times?.kind !== 'range') continue;
		const rest = combined.filter((clause) => clause !== dates && clause !== times);
		combined = [...rest, { kind: 'moment', of, from: start(dates.from, times.from), to: start(dates.to, times.to) }];
	}
	return combined;
}
