import type { Clause } from '#record/search-plan.ts';
import type { ResourceDefinition, SearchParameter } from './resource.ts';
import { dateClause } from './search/date.ts';

/** The first and the last day or moment of care, both included, as FHIR dates. */
export interface CareDates {
	start: string | undefined;
	end: string | undefined;
}

/**
 * The date parameters that tell when care was given, where these are not all date parameters of the type. A birth date is none, nor is the
 * time at which somebody recorded what holds for long.
 */
const careParameters: Readonly<Record<string, readonly string[]>> = {
	Patient: [],
	Person: [],
	RelatedPerson: [],
	AllergyIntolerance: [],
	FamilyMemberHistory: [],
	Condition: ['onset-date'],
	DiagnosticReport: ['date'],
	Encounter: ['date'],
	Goal: ['start-date'],
	Observation: ['date'],
	Provenance: ['when'],
	Task: ['authored-on', 'period'],
};

/** Tells whether there is a date. A text in its place, or a Timing without dates, is none. */
function presenceOf(parameter: SearchParameter & { type: 'date' }): Clause {
	switch (parameter.match) {
		case 'element':
			return { kind: 'element', paths: parameter.paths, test: { kind: 'exists' } };
		case 'moment':
			return { kind: 'present', column: parameter.column };
		case 'range':
			return { kind: 'present', column: parameter.startColumn };
	}
}

/** Such a resource may still hold once it has begun. It is left out only if it began after the end. */
const lasting: ReadonlySet<string> = new Set(['Condition', 'Goal']);

function careParametersOf({ type, search }: ResourceDefinition): string[] {
	const names = Object.hasOwn(careParameters, type) ? careParameters[type] : undefined;
	return (names ?? Object.keys(search)).filter((name) => search[name]?.type === 'date');
}

/**
 * Returns the condition by which a resource belongs to a time of care: one of its dates overlaps it, or it has none.
 * @throws Failure `invalid` for what is no date
 */
export function careClauses(definition: ResourceDefinition, { start, end }: CareDates): Clause[] {
	const within: Clause[] = [];
	const present: Clause[] = [];
	for (const name of careParametersOf(definition)) {
		const parameter = definition.search[name];
		if (parameter?.type !== 'date') continue;
		const beside: Clause[] = [];
		if (start !== undefined && !lasting.has(definition.type)) beside.push(dateClause('start', parameter, [`eb${start}`]));
		if (end !== undefined) beside.push(dateClause('end', parameter, [`sa${end}`]));
		if (beside.length === 0) continue;
		const dated = presenceOf(parameter);
		within.push({ kind: 'all', clauses: [dated, ...beside.map((clause): Clause => ({ kind: 'not', clause }))] });
		present.push(dated);
	}
	if (within.length === 0) return [];
	return [{ kind: 'any', clauses: [...within, { kind: 'not', clause: { kind: 'any', clauses: present } }] }];
}
