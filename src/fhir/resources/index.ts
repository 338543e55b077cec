import type { ResourceType, TableShape } from '#record/table-shape.ts';
import { elementParameter, plainParameter } from '../generated-elements.ts';
import { generatedResource } from '../generated-resource.ts';
import { withLeads } from '../indexed-parameters.ts';
import type { ResourceDefinition } from '../resource.ts';
import { allergyIntolerance } from './allergy-intolerance.ts';
import { condition } from './condition.ts';
import { diagnosticReport } from './diagnostic-report.ts';
import { documentReference } from './document-reference.ts';
import { encounter } from './encounter.ts';
import { generatedTypes } from './generated/index.ts';
import { imagingStudy } from './imaging-study.ts';
import { observation } from './observation.ts';
import { patient } from './patient.ts';
import { procedure } from './procedure.ts';
import { usCoreParameters } from './us-core-parameters.ts';

/** The resource types with a table of their own, and what the product knows of them beyond R4. */
const definitions = [
	patient,
	condition,
	allergyIntolerance,
	observation,
	procedure,
	diagnosticReport,
	documentReference,
	imagingStudy,
	encounter,
] as const;

type OwnType = (typeof definitions)[number]['type'];

type GeneratedName = Exclude<(typeof generatedTypes)[number]['type'], OwnType>;

declare module '#record/table-shape.ts' {
	interface Served {
		type: OwnType | GeneratedName;
	}
}

/** Names of the lists on the page of a patient. */
export type ChartList = NonNullable<(typeof definitions)[number]['chart']>['list'];

const own: ReadonlySet<string> = new Set(definitions.map(({ type }) => type));

/** Adds the search parameters of R4 that the definition does not have; they are searched in the resource itself. */
function withParametersOfR4(definition: ResourceDefinition<string, ChartList>): ResourceDefinition<string, ChartList> {
	const generated = generatedTypes.find(({ type }) => type === definition.type);
	// A rendered resource has no stored text to search in.
	if (generated === undefined || definition.table.renderedFrom !== undefined) return definition;
	const further = Object.keys(generated.search).flatMap((name) => {
		const parameter = Object.hasOwn(definition.search, name) ? undefined : elementParameter(generated, name);
		return parameter === undefined ? [] : [[name, parameter] as const];
	});
	return { ...definition, search: { ...definition.search, ...Object.fromEntries(further) } };
}

/** Adds the search parameters of US Core that R4 does not have. They too are searched in the resource itself, so stored rows have them at once. */
function withParametersOfUsCore(definition: ResourceDefinition<string, ChartList>): ResourceDefinition<string, ChartList> {
	const further = Object.entries(usCoreParameters[definition.type] ?? {}).flatMap(([name, stated]) => {
		const parameter = plainParameter({ ...stated, documentation: `${stated.documentation} (of US Core, not of R4)` });
		return parameter === undefined ? [] : [[name, parameter] as const];
	});
	return further.length === 0 ? definition : { ...definition, search: { ...definition.search, ...Object.fromEntries(further) } };
}

/** Every resource type that the product serves. */
export const resources = Object.fromEntries(
	[
		...definitions.map((definition): ResourceDefinition<string, ChartList> => withParametersOfR4(definition)),
		...generatedTypes
			.filter(({ type }) => !own.has(type))
			.map((generated): ResourceDefinition<string, never> => generatedResource<string>(generated)),
	].map((definition) => [definition.type, withLeads(withParametersOfUsCore(definition))]),
) as Readonly<Record<ResourceType, ResourceDefinition>>;

export function definitionOf(type: string): ResourceDefinition | undefined {
	return Object.hasOwn(resources, type) ? resources[type as ResourceType] : undefined;
}

export const tableShapes = Object.fromEntries(Object.values(resources).map(({ type, table }) => [type, table])) as Readonly<
	Record<ResourceType, TableShape>
>;
