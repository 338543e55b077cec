import { z } from 'zod';
import { auditRecord, listAudit, listAuditInput } from '../audit.ts';
import { verifiedAudit, verifyAudit, verifyAuditInput } from '../audit-verify.ts';
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
			values: {
				site: 'slug',
				actor: 'name',
				action: 'noun|noun.verb',
				since: 'time',
				until: 'time',
				patient: 'id',
				study: 'uid',
				before: 'event-id',
				limit: 'n',
			},
		},
		example: { site: 'north', action: 'key', limit: 20 },
		run: listAudit,
	}),
	defineOperation({
		name: 'audit verify',
		summary:
			'walks the chains of the audit trail and names the first event that was changed, removed, inserted or moved; the command then ends with 1',
		method: 'POST',
		path: '/audit/verify',
		effect: 'none',
		role: 'auditor',
		scope: 'network',
		input: verifyAuditInput,
		output: verifiedAudit,
		commandLine: { values: { known: 'chain:sequence:digest' }, isFailure: (result) => !verifiedAudit.parse(result).holds },
		example: {},
		run: verifyAudit,
	}),
];
