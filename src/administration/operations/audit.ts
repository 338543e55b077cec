import { z } from 'zod';
import { auditRecord, listAudit, listAuditInput } from '../audit.ts';
import { defineOperation } from '../operation.ts';

export const auditOperations = [
	defineOperation({
		name: 'audit list',
		summary: 'lists the audit trail, newest first: changes with the values before and after, access to data, and refused callers',
		method: 'GET',
		path: '/audit',
		role: 'auditor',
		scope: 'sites',
		input: listAuditInput,
		output: z.array(auditRecord),
		commandLine: {
			values: { site: 'slug', actor: 'name', action: 'noun|noun.verb', since: 'time', until: 'time', before: 'event-id', limit: 'n' },
		},
		example: { site: 'north', action: 'key', limit: 20 },
		run: listAudit,
	}),
];
