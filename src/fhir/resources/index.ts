import type { ResourceType, TableShape } from '#record/table-shape.ts';
import type { ResourceDefinition } from '../resource.ts';
import { encounter } from './encounter.ts';
import { observation } from './observation.ts';
import { patient } from './patient.ts';

/** Every resource type that the product serves. */
export const resources = { Patient: patient, Encounter: encounter, Observation: observation } as const satisfies Record<
	ResourceType,
	ResourceDefinition
>;

export function definitionOf(type: string): ResourceDefinition | undefined {
	return Object.hasOwn(resources, type) ? resources[type as ResourceType] : undefined;
}

export const tableShapes: Readonly<Record<ResourceType, TableShape>> = {
	Patient: patient.table,
	Encounter: encounter.table,
	Observation: observation.table,
};
