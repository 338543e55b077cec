import { defineOperation } from '../operation.ts';
import { resourceHistory, resourceHistoryInput, showResourceHistory, versionsMax } from '../resource-history.ts';

export const resourceOperations = [
	defineOperation({
		name: 'resource history',
		summary: `shows a FHIR resource as JSON, its newest ${versionsMax} versions and the changes of each; the audit trail records this`,
		method: 'GET',
		path: '/sites/{site}/resources/{type}/{id}',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: resourceHistoryInput,
		output: resourceHistory,
		commandLine: { positionals: ['type', 'id'], values: { site: 'slug', type: 'type', id: 'id' } },
		example: (idOf) => ({ site: 'north', type: 'Patient', id: idOf('patient search') }),
		run: showResourceHistory,
	}),
];
