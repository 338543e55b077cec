import {
	dismissedRecord,
	dismissIdentity,
	dismissIdentityInput,
	identityInput,
	identityPreview,
	identityResult,
	mergePatients,
	previewIdentity,
	previewIdentityInput,
	unmergePatients,
} from '../identity.ts';
import { identityPage, listIdentity, listIdentityInput } from '../identity-work.ts';
import { defineOperation } from '../operation.ts';

const values = {
	site: 'slug',
	survivor: 'patient-id',
	prior: 'patient-id',
	patients: 'patient-id',
	message: 'message-id',
	doubts: 'doubt-id',
	after: 'next',
	limit: 'n',
};

const pair = (idOf: (operation: string, index?: number) => string) => ({
	site: 'north',
	survivor: idOf('patient search'),
	prior: idOf('patient search', 1),
});

export const identityOperations = [
	defineOperation({
		name: 'identity list',
		summary:
			'lists doubts about who a patient is, possible duplicate patients, and messages that may have recorded one person under the identifier of another',
		method: 'POST',
		path: '/sites/{site}/identity/search',
		role: 'auditor',
		effect: 'none',
		scope: 'site',
		input: listIdentityInput,
		output: identityPage,
		commandLine: { values },
		example: { site: 'north', kind: 'alike' },
		run: listIdentity,
	}),
	defineOperation({
		name: 'identity preview',
		summary: 'shows what a merge or its undoing would move',
		method: 'GET',
		path: '/sites/{site}/identity/preview',
		role: 'auditor',
		effect: 'noted',
		scope: 'site',
		input: previewIdentityInput,
		output: identityPreview,
		commandLine: { values },
		example: pair,
		run: previewIdentity,
	}),
	defineOperation({
		name: 'patient merge',
		summary: 'merges a patient into another patient, as ADT^A40 does',
		method: 'POST',
		path: '/sites/{site}/identity/merge',
		role: 'manager',
		scope: 'site',
		input: identityInput,
		output: identityResult,
		commandLine: { values },
		example: pair,
		run: mergePatients,
	}),
	defineOperation({
		name: 'patient unmerge',
		summary: 'undoes a patient merge, as ADT^A37 does',
		method: 'POST',
		path: '/sites/{site}/identity/unmerge',
		role: 'manager',
		scope: 'site',
		input: identityInput,
		output: identityResult,
		commandLine: { values },
		example: pair,
		run: unmergePatients,
	}),
	defineOperation({
		name: 'identity dismiss',
		summary:
			'records that patients are not the same, that a message overlaid nobody, or that a doubt needs nothing; they are not listed again',
		method: 'POST',
		path: '/sites/{site}/identity/dismiss',
		role: 'manager',
		scope: 'site',
		input: dismissIdentityInput,
		output: dismissedRecord,
		commandLine: { values },
		example: (idOf) => ({ site: 'north', patients: [idOf('patient search'), idOf('patient search', 1)] }),
		run: dismissIdentity,
	}),
];
