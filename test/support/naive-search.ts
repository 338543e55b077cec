import { dateRange } from '#core/date-range.ts';
import { plain } from '#fhir/fold.ts';

/** A FHIR resource as tests read it: by path, without types. */
export type Resource = ReturnType<typeof JSON.parse>;

/**
 * Search as FHIR R4 §3.1.1 describes it, one resource and one parameter at a time, straight from the elements: what the
 * product's searches are held against. Knows values without escapes.
 */
export function matches(resource: Resource, name: string, value: string): boolean {
	const [plain = '', modifier] = name.split(':');
	if (modifier === 'not') return !matches(resource, plain, value);
	if (modifier === 'missing') return (elementOf(resource, plain) === undefined) === (value === 'true');
	if (modifier === 'exact') return value.split(',').some((text) => nameParts(resource).includes(text));
	return value.split(',').some((alternative) => matchesOne(resource, name, alternative));
}

/** The element that a parameter is about; undefined when there is none. */
function elementOf(resource: Resource, name: string): unknown {
	switch (name) {
		case 'birthdate':
			return resource.birthDate;
		case 'value-quantity':
			return resource.valueQuantity;
		case 'date':
			return resource.effectiveDateTime;
		default:
			return Array.isArray(resource[name]) && resource[name].length === 0 ? undefined : resource[name];
	}
}

function nameParts(resource: Resource): string[] {
	return (resource.name ?? []).flatMap(({ text, family, given = [] }: Resource) => [text, family, ...given]);
}

/** FHIR R4 §3.1.1.4.6: a number stands for the range that rounds to it; a stored comparator for all beyond. */
function matchesQuantity(quantity: Resource | undefined, value: string): boolean {
	if (quantity === undefined) return false;
	const [, prefix = 'eq', digits = ''] = /^([a-z]{2})?(.*)$/.exec(value) ?? [];
	const wanted = Number(digits);
	const half = 0.5 * 10 ** -(digits.split('.')[1]?.length ?? 0);
	const low = quantity.comparator === '<' ? Number.NEGATIVE_INFINITY : quantity.value;
	const high = quantity.comparator === '>' ? Number.POSITIVE_INFINITY : quantity.value;
	const within = low >= wanted - half && high < wanted + half;
	switch (prefix) {
		case 'eq':
			return within;
		case 'ne':
			return !within;
		case 'gt':
			return high > wanted;
		case 'lt':
			return low < wanted;
		case 'ge':
			return high >= wanted;
		case 'le':
			return low <= wanted;
		default:
			throw new Error(`no prefix: ${prefix}`);
	}
}

function matchesOne(resource: Resource, name: string, value: string): boolean {
	switch (name) {
		case 'started':
			return matchesDate(dateRange(resource.started ?? ''), value);
		case '_id':
			return resource.id === value;
		case 'name':
			return namesOf(resource).some((text) => plain(text).includes(plain(value)));
		case 'gender':
		case 'status':
			return resource[name] === value;
		case 'class':
			return resource.class?.code === value;
		case 'birthdate':
			return matchesDate(dateRange(resource.birthDate ?? ''), value);
		case 'value-quantity':
			return matchesQuantity(resource.valueQuantity, value);
		case 'family':
			return (resource.name ?? []).some(({ family }: Resource) => family !== undefined && plain(family).startsWith(plain(value)));
		case 'given':
			return (resource.name ?? []).some(({ given = [] }: Resource) => given.some((text: string) => plain(text).startsWith(plain(value))));
		case 'identifier':
			return (resource.identifier ?? []).some((identifier: Resource) => matchesToken(identifier.system, identifier.value, value));
		case 'code':
			return (resource.code?.coding ?? []).some(
				(coding: Resource) => coding.code !== undefined && matchesToken(coding.system, coding.code, value),
			);
		case 'patient':
		case 'subject':
			return resource.subject?.reference === (value.includes('/') ? value : `Patient/${value}`);
		case 'date':
			return matchesDate(periodOf(resource.period ?? resource.effectivePeriod) ?? dateRange(resource.effectiveDateTime ?? ''), value);
		default:
			throw new Error(`no such parameter: ${name}`);
	}
}

function namesOf(resource: Resource): string[] {
	return (resource.name ?? []).flatMap((name: Resource) => [
		name.text ?? '',
		[...(name.prefix ?? []), ...(name.given ?? []), ...(name.family ? [name.family] : []), ...(name.suffix ?? [])].join(' '),
	]);
}

function matchesToken(system: string | undefined, code: string, value: string): boolean {
	const [left, right] = value.split('|');
	if (right === undefined) return code === left;
	const systemFits = left === '' ? system === undefined : system === left;
	return systemFits && (right === '' || code === right);
}

interface Range {
	startMs: number;
	endMs: number;
}

export function periodOf(period: Resource | undefined): Range | undefined {
	if (period?.start === undefined && period?.end === undefined) return undefined;
	return {
		startMs: dateRange(period.start ?? '')?.startMs ?? Number.NEGATIVE_INFINITY,
		endMs: dateRange(period.end ?? '')?.endMs ?? Number.POSITIVE_INFINITY,
	};
}

/** §3.1.1.4.5, in its own words: what the range above and below the parameter's value has to do with the resource's. */
export function matchesDate(target: Range | undefined, value: string): boolean {
	const [, prefix = 'eq', date = ''] = /^([a-z]{2})?(.*)$/.exec(value) ?? [];
	const search = dateRange(date);
	if (search === undefined) throw new Error(`no date: ${value}`);
	if (target === undefined) return false;
	const contained = search.startMs <= target.startMs && target.endMs <= search.endMs;
	const above: Range = { startMs: search.endMs, endMs: Number.POSITIVE_INFINITY };
	const below: Range = { startMs: Number.NEGATIVE_INFINITY, endMs: search.startMs };
	switch (prefix) {
		case 'eq':
			return contained;
		case 'ne':
			return !contained;
		case 'gt':
			return overlap(above, target);
		case 'lt':
			return overlap(below, target);
		case 'ge':
			return overlap(above, target) || contained;
		case 'le':
			return overlap(below, target) || contained;
		case 'sa':
			return !overlap(search, target) && target.startMs >= above.startMs;
		case 'eb':
			return !overlap(search, target) && target.endMs <= below.endMs;
		default:
			throw new Error(`no prefix: ${prefix}`);
	}
}

function overlap(left: Range, right: Range): boolean {
	return left.startMs < right.endMs && right.startMs < left.endMs;
}
