import type { IndexedType, IndexedValue } from '#record/search-entry.ts';
import type { ResourceDefinition, SearchParameter } from './resource.ts';

/**
 * Says which parameters of a type need the index of elements (record/search-entry) to lead to few rows: those that look at the resource
 * itself or its `meta`, and those of columns that have no index of their own, because each would cost every message more than the index of
 * elements, which is filled after the commit.
 */

/** Columns of the tables of types that messages write, which an index of their own leads to (migrations). */
const indexedColumns: Readonly<Record<string, readonly string[]>> = {
	patient: ['name', 'gender', 'birth_date'],
	encounter: ['patient_id', 'status'],
	observation: ['patient_id'],
	condition: ['patient_id', 'clinical_status'],
	allergy_intolerance: ['patient_id', 'clinical_status'],
	procedure: ['patient_id'],
	document_reference: ['patient_id'],
	diagnostic_report: ['patient_id', 'status'],
};

/** Returns where the index of elements finds the values of a parameter; undefined if something else leads to them. */
export function indexedValueOf({ table }: ResourceDefinition<string>, parameter: SearchParameter): IndexedValue | undefined {
	// A rendered resource has no text and no source of its own.
	if (table.renderedFrom !== undefined) return undefined;
	const isUnindexed = (column: string) => !table.isShared && !(indexedColumns[table.table] ?? []).includes(column);
	switch (parameter.type) {
		case 'token':
			if (parameter.match === 'element') {
				const { paths, form, of } = parameter;
				return { kind: 'token', paths, form, ...(of === undefined ? {} : { of }) };
			}
			return parameter.match === 'code' && isUnindexed(parameter.column) ? { kind: 'code-column', column: parameter.column } : undefined;
		case 'reference':
			if (parameter.match === 'element') return { kind: 'reference', path: parameter.path };
			if (parameter.match === 'term') return undefined;
			if (parameter.path !== undefined && parameter.targets.length > 1)
				return { kind: 'other-reference', path: parameter.path, column: parameter.column };
			if (!isUnindexed(parameter.column)) return undefined;
			return { kind: 'row-column', column: parameter.column, type: parameter.targets[0] };
		case 'uri':
			if (parameter.match === 'column') return { kind: 'text-column', column: parameter.column };
			if (parameter.match === 'term') return undefined;
			return { kind: 'uri', paths: parameter.paths, ...(parameter.of === undefined ? {} : { of: parameter.of }) };
		case 'date':
			if (parameter.match === 'element') return { kind: 'date', paths: parameter.paths };
			if (parameter.match === 'moment' || !isUnindexed(parameter.startColumn)) return undefined;
			return { kind: 'range-columns', start: parameter.startColumn, end: parameter.endColumn };
		case 'string':
			if (parameter.match === 'sound') return { kind: 'sound', paths: parameter.paths };
			// A column of texts leads to their parts.
			return parameter.match === 'element' && parameter.column === undefined ? { kind: 'string', paths: parameter.paths } : undefined;
		case 'quantity':
		case 'number':
			return { kind: parameter.type, paths: parameter.paths };
		case 'composite':
		case 'special':
			return undefined;
	}
}

/** Marks the parameters that the index of elements leads to. */
export function withLeads<Definition extends ResourceDefinition<string>>(definition: Definition): Definition {
	const marked = Object.entries(definition.search).map(([name, parameter]) => {
		const isLed = indexedValueOf(definition, parameter) !== undefined;
		return [name, isLed ? { ...parameter, lead: `${definition.type}.${name}` } : parameter] as const;
	});
	return { ...definition, search: Object.fromEntries(marked) };
}

/** Returns what the index of elements holds of a type; `search` has its parameters, and those of every type. */
export function indexedTypeOf(definition: ResourceDefinition, search: ResourceDefinition['search']): IndexedType | undefined {
	const parameters = Object.entries(search).flatMap(([name, parameter]) => {
		const value = indexedValueOf(definition, parameter);
		if (value === undefined) return [];
		const presence = presenceOf(parameter);
		return [{ scope: `${definition.type}.${name}`, value, ...(presence === undefined ? {} : { presence }) }];
	});
	const { type, table } = definition;
	return parameters.length === 0 ? undefined : { type, table: table.table, parameters };
}

function presenceOf(parameter: SearchParameter): readonly string[] | undefined {
	switch (parameter.type) {
		case 'token':
			if (parameter.match === 'code') return parameter.path === undefined ? undefined : [parameter.path];
			if (parameter.match !== 'element' || parameter.of === 'meta') return undefined;
			// The element itself may have text alone.
			return (parameter.presence ?? parameter.paths).map((path) => withoutPart(path));
		case 'string':
			return parameter.presence;
		case 'reference':
			if (parameter.match === 'term' || parameter.path === undefined) return undefined;
			// Nearly every row has such a reference in the column, which tells it too.
			return parameter.match === 'column' && parameter.targets.length > 1 ? undefined : [withoutPart(parameter.path)];
		case 'date':
			return parameter.match === 'range' ? parameter.presence : undefined;
		default:
			return undefined;
	}
}

/** Leads to the element of which a path names the part that is compared: `$.category` of `$.category.coding`. */
export function withoutPart(path: string): string {
	return path.replace(/(?<=\..*)(?:\.coding)?(?:\.(?:coding|code|reference))$/, '');
}
