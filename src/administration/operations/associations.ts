import { z } from 'zod';
import { associationRecord, listAssociations, listAssociationsInput } from '../associations.ts';
import { defineOperation } from '../operation.ts';

export const associationOperations = [
	defineOperation({
		name: 'association list',
		summary: 'lists accepted DICOM associations, newest first, with what they sent and how they ended',
		method: 'GET',
		path: '/associations',
		role: 'auditor',
		scope: 'sites',
		input: listAssociationsInput,
		output: z.array(associationRecord),
		commandLine: { values: { site: 'slug', ae: 'AE title', since: 'time', until: 'time', before: 'association-id', limit: 'n' } },
		example: { site: 'north', limit: 20 },
		run: listAssociations,
	}),
];
