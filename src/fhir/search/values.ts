import { Failure } from '#core/failure.ts';
import type { Condition, DatePrefix } from '#record/search-plan.ts';
import { dateRange, isoDay, isoInstant } from '../date.ts';
import type { SearchParameter } from '../resource.ts';

const prefixes: ReadonlySet<string> = new Set<DatePrefix>(['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb']);

/** One value of a parameter as a condition. `name` is for the failure's text. */
export function conditionOf(name: string, parameter: SearchParameter, value: string): Condition {
	switch (parameter.type) {
		case 'string':
			return { kind: 'substring', column: parameter.column, value: unescaped(value).toLowerCase() };
		case 'reference':
			return referenceCondition(parameter.column, parameter.target, value);
		case 'date':
			return dateCondition(name, parameter, value);
		case 'token':
			return tokenCondition(parameter, value);
	}
}

/** FHIR R4 §3.1.1.4.9: `Patient/<id>` or `<id>`; a URL of this or another server is taken by its last part only when it is relative. */
function referenceCondition(column: string, target: string, value: string): Condition {
	const slash = value.lastIndexOf('/');
	const type = slash < 0 ? target : value.slice(0, slash);
	return type === target ? { kind: 'id', column, value: value.slice(slash + 1) } : { kind: 'never' };
}

function dateCondition(name: string, parameter: SearchParameter & { type: 'date' }, value: string): Condition {
	const given = value.slice(0, 2);
	const prefix = (prefixes.has(given) ? given : 'eq') as DatePrefix;
	const range = dateRange(prefixes.has(given) ? value.slice(2) : value);
	if (range === undefined) throw new Failure('invalid', `${name} is not a date`, { location: { expression: name } });
	const text = parameter.columnType === 'date' ? isoDay : isoInstant;
	const { columnType, startColumn, endColumn } = parameter;
	const high = parameter.columnType === 'date' && range.endMs - range.startMs < 86_400_000 ? range.startMs + 86_400_000 : range.endMs;
	return { kind: 'date', columnType, startColumn, endColumn, prefix, low: text(range.startMs), high: text(high) };
}

function tokenCondition(parameter: SearchParameter & { type: 'token' }, value: string): Condition {
	const bar = separator(value);
	const system = bar < 0 ? undefined : unescaped(value.slice(0, bar));
	const code = unescaped(value.slice(bar + 1));
	switch (parameter.match) {
		case 'identifier':
			return { kind: 'identifier', system, value: code === '' ? undefined : code };
		case 'coding': {
			const { systemColumn, valueColumn, furtherColumn } = parameter;
			return { kind: 'coding', systemColumn, valueColumn, furtherColumn, system, value: code };
		}
		case 'code':
			if (system !== undefined && system !== parameter.system) return { kind: 'never' };
			return { kind: 'equals', column: parameter.column, value: code };
	}
}

function separator(value: string): number {
	for (let index = 0; index < value.length; index++) {
		if (value[index] === '\\') index++;
		else if (value[index] === '|') return index;
	}
	return -1;
}

/** Splits at commas that no backslash escapes (FHIR R4 §3.1.1.4.0.2). */
export function splitValues(text: string): string[] {
	const values: string[] = [];
	let value = '';
	for (let index = 0; index < text.length; index++) {
		if (text[index] === '\\') {
			value += text.slice(index, index + 2);
			index++;
		} else if (text[index] === ',') {
			values.push(value);
			value = '';
		} else {
			value += text[index];
		}
	}
	return [...values, value];
}

function unescaped(text: string): string {
	return text.includes('\\') ? text.replace(/\\([\\,|$])/g, '$1') : text;
}
