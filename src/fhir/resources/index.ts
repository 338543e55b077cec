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

/** Every resource type that the product serves. */
export const resources: Readonly<Record<ResourceType, ResourceDefinition>> = {
	Patient: patient,
	Condition: condition,
	AllergyIntolerance: allergyIntolerance,
	Observation: observation,
	Procedure: procedure,
	DiagnosticReport: diagnosticReport,
	DocumentReference: documentReference,
	ImagingStudy: imagingStudy,
	Encounter: encounter,
};

export function definitionOf(type: string): ResourceDefinition | undefined {
	return Object.hasOwn(resources, type) ? resources[type as ResourceType] : undefined;
}

export const tableShapes = Object.fromEntries(Object.entries(resources).map(([type, { table }]) => [type, table])) as Readonly<
	Record<ResourceType, TableShape>
>;
