import { dateRange, dayMs } from '#core/date-range.ts';
import { Failure } from '#core/failure.ts';
import type { Clause, DateAlternative, DatePrefix } from '#record/search-plan.ts';
import { isoDay, isoInstant } from '../date.ts';
import type { SearchParameter } from '../resource.ts';

const prefixes: ReadonlySet<string> = new Set<DatePrefix>(['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb']);

/** @throws Failure `invalid` when it is no date, `not-supported` for another prefix */
export function dateClause(name: string, parameter: SearchParameter & { type: 'date' }, values: readonly string[]): Clause {
	const alternatives = (columnType: 'date' | 'timestamptz') => values.map((value) => alternativeOf(name, columnType, value));
	if (parameter.match === 'moment') return { kind: 'moment', column: parameter.column, alternatives: alternatives('timestamptz') };
	if (parameter.match === 'element') {
		return { kind: 'element', paths: parameter.paths, test: { kind: 'date', alternatives: alternatives('timestamptz') } };
	}
	const { columnType, startColumn, endColumn, longestMs, several } = parameter;
	return {
		kind: 'date',
		columnType,
		startColumn,
		endColumn,
		...(longestMs === undefined ? {} : { longestMs }),
		...(several === undefined ? {} : { several }),
		alternatives: alternatives(columnType),
	};
}

function alternativeOf(name: string, columnType: 'date' | 'timestamptz', value: string): DateAlternative {
	const [, given = '', date = ''] = /^([a-z]{2}(?=\d))?(.*)$/s.exec(value) ?? [];
	const location = { expression: name };
	if (given !== '' && !prefixes.has(given)) throw new Failure('not-supported', `${name} does not support this prefix`, { location });
	// An unescaped `+` of a time zone in a query arrives as a space.
	const range = dateRange(date.replace(' ', '+'));
	if (range === undefined) throw new Failure('invalid', `${name} is not a date`, { location });
	const prefix = (given === '' ? 'eq' : given) as DatePrefix;
	if (columnType === 'timestamptz') return { prefix, low: isoInstant(range.startMs), high: isoInstant(range.endMs) };
	// A moment counts as its day when only days are stored.
	return { prefix, low: isoDay(range.startMs), high: isoDay(Math.ceil(range.endMs / dayMs) * dayMs) };
}
