import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { listSettings, settingRecord } from '../settings.ts';

export const settingOperations = [
	defineOperation({
		name: 'setting list',
		summary: 'lists the settings of sites and senders: who may have them, their values and their defaults',
		method: 'GET',
		path: '/settings',
		role: 'auditor',
		scope: 'sites',
		input: z.strictObject({}),
		output: z.array(settingRecord),
		commandLine: {},
		example: {},
		run: async () => listSettings(),
	}),
];
