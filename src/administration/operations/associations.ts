import { z } from 'zod';
import { associationRecord, listAssociations, listAssociationsInput } from '../associations.ts';
import { defineOperation } from '../operation.ts';

export const associationOperations = [
	defineOperation({
		name: 'association list',
		summary: 'lists DICOM associations that were accepted, newest first: who, how much came, and how they ended',
		method: 'GET',
		path: '/associations',
		role: 'auditor',
		scope: 'sites',
		input: listAssociationsInput,
		output: z.array(associationRecord),
		commandLine: { values: { site: 'slug', since: 'time', until: 'time', before: 'association-id', limit: 'n' } },
		example: { site: 'north', limit: 20 },
		run: listAssociations,
	}),
];
