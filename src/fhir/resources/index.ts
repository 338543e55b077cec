import type { ResourceType, TableShape } from '#record/table-shape.ts';
import type { ResourceDefinition } from '../resource.ts';
import { allergyIntolerance } from './allergy-intolerance.ts';
import { condition } from './condition.ts';
import { diagnosticReport } from './diagnostic-report.ts';
import { documentReference } from './document-reference.ts';
import { encounter } from './encounter.ts';
import { imagingStudy } from './imaging-study.ts';
import { observation } from './observation.ts';
import { patient } from './patient.ts';
import { procedure } from './procedure.ts';

export { generatedTypes } from './generated/index.ts';

/** Every resource type that the product serves. */
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

declare module '#record/table-shape.ts' {
	interface Served {
		type: (typeof definitions)[number]['type'];
	}
}

/** Names of the lists on the page of a patient. */
export type ChartList = NonNullable<(typeof definitions)[number]['chart']>['list'];

export const resources = Object.fromEntries(definitions.map((definition) => [definition.type, definition])) as Readonly<
	Record<ResourceType, ResourceDefinition>
>;

export function definitionOf(type: string): ResourceDefinition | undefined {
	return Object.hasOwn(resources, type) ? resources[type as ResourceType] : undefined;
}

export const tableShapes = Object.fromEntries(definitions.map(({ type, table }) => [type, table])) as Readonly<
	Record<ResourceType, TableShape>
>;
