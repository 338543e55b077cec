import { z } from 'zod';
import {
	appliedRecord,
	applyConfiguration,
	applyInput,
	applyRecord,
	configurationDocument,
	exportConfiguration,
	exportInput,
	listApplies,
	plan,
	planConfiguration,
	planInput,
	rollBack,
	rollbackInput,
	showApplyInput,
	stateBefore,
} from '../configuration/configuration.ts';
import { configurationText, planText } from '../configuration/texts.ts';
import { defineOperation } from '../operation.ts';

const network = { role: 'administrator', scope: 'network' } as const;
const values = { site: 'slug', file: 'file', expect: 'state', id: 'apply-id' };
const files = { file: 'content' } as const;
/** Wrong usage ends with 2. */
const exitCodeOfChanges = 3;

const example = JSON.stringify({
	format: 'tributary-configuration',
	version: 1,
	scope: ['harbour'],
	sites: { harbour: { name: 'Harbour Clinic', remote_aes: { ARCHIVE: { host: 'archive.example.org', port: 104 } } } },
});

export const configurationOperations = [
	defineOperation({
		name: 'config export',
		summary: 'writes sites, clients, remote AEs, keys without secrets, authorities, users, notifications and settings as one file',
		method: 'GET',
		path: '/configuration',
		role: 'auditor',
		scope: 'sites',
		input: exportInput,
		output: configurationDocument,
		commandLine: { values, text: configurationText },
		example: { site: 'north' },
		run: exportConfiguration,
	}),
	defineOperation({
		...network,
		name: 'config plan',
		summary:
			'shows what config apply would change, and tries it; ends with 0 if nothing, with 3 if something, with 1 if it would be refused',
		method: 'POST',
		path: '/configuration/plan',
		effect: 'none',
		input: planInput,
		output: plan,
		commandLine: {
			...{ values, files, text: planText },
			exitCode: (result) => {
				const { changes, refusal } = result as z.output<typeof plan>;
				return refusal !== null ? 1 : changes.length > 0 ? exitCodeOfChanges : 0;
			},
		},
		example: { file: example },
		run: planConfiguration,
	}),
	defineOperation({
		...network,
		name: 'config apply',
		summary: 'makes everything as the file says, in one transaction: all of it, or nothing',
		method: 'POST',
		path: '/configuration/apply',
		input: applyInput,
		output: appliedRecord,
		commandLine: { values, files, text: planText },
		example: { file: example },
		run: applyConfiguration,
	}),
	defineOperation({
		...network,
		name: 'config history',
		summary: 'lists what was applied and rolled back, newest first',
		method: 'GET',
		path: '/configuration/applies',
		input: z.strictObject({}),
		output: z.array(applyRecord),
		commandLine: {},
		example: {},
		run: listApplies,
	}),
	defineOperation({
		...network,
		name: 'config before',
		summary: 'writes the state before an apply as one file',
		method: 'GET',
		path: '/configuration/applies/{id}',
		input: showApplyInput,
		output: configurationDocument,
		commandLine: { positionals: ['id'], values, text: configurationText },
		example: (idOf) => ({ id: idOf('config apply') }),
		run: stateBefore,
	}),
	defineOperation({
		...network,
		name: 'config rollback',
		summary: 'brings back what an apply changed; what it did not touch stays as it is now',
		method: 'POST',
		path: '/configuration/rollback',
		input: rollbackInput,
		output: appliedRecord,
		commandLine: { values, text: planText },
		example: (idOf) => ({ id: idOf('config apply') }),
		run: rollBack,
	}),
];
