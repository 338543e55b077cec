import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import {
	addedProfiles,
	addProfiles,
	addProfilesInput,
	findProfiles,
	listProfiles,
	listProfilesInput,
	namedProfiles,
	profileRecord,
	removedProfiles,
	removeProfiles,
	shownProfile,
	showProfile,
} from '../profiles.ts';

const values = { site: 'slug', profile: 'id | url | package', kind: 'kind', limit: 'n' };
const one = {
	scope: 'object',
	called: 'profile',
	find: findProfiles,
	input: namedProfiles,
	commandLine: { positionals: ['profile'], values },
} as const;

/** A value set of two codes, for the example. */
const example = Buffer.from(
	JSON.stringify({
		resourceType: 'ValueSet',
		url: 'https://example.org/fhir/ValueSet/wards',
		name: 'Wards',
		status: 'active',
		compose: { include: [{ system: 'https://example.org/wards', concept: [{ code: 'N1' }, { code: 'N2' }] }] },
	}),
).toString('base64');

export const profileOperations = [
	defineOperation({
		name: 'profile add',
		summary: 'loads a profile, value set or code system, or a FHIR package of them, for a site; the same URL and version is replaced',
		method: 'POST',
		path: '/profiles',
		role: 'manager',
		scope: 'site',
		input: addProfilesInput,
		output: addedProfiles,
		commandLine: {
			positionals: ['file'],
			values: { site: 'slug', file: 'StructureDefinition.json | package.tgz' },
			files: { file: 'base64' },
		},
		example: { site: 'north', file: example },
		run: addProfiles,
	}),
	defineOperation({
		name: 'profile list',
		summary: 'lists the profiles, value sets and code systems that sites have loaded, beside those that ship with the product',
		method: 'GET',
		path: '/profiles',
		role: 'auditor',
		scope: 'sites',
		input: listProfilesInput,
		output: z.array(profileRecord),
		commandLine: { values },
		example: { site: 'north' },
		run: listProfiles,
	}),
	defineOperation({
		...one,
		name: 'profile show',
		summary: 'shows a loaded definition by its id, or by its URL and site, with what it demands',
		method: 'GET',
		path: '/profiles/{profile}',
		role: 'auditor',
		output: shownProfile,
		example: (idOf) => ({ profile: idOf('profile list') }),
		run: (_context, _input, found) => showProfile(found),
	}),
	defineOperation({
		...one,
		name: 'profile remove',
		summary: 'removes a loaded definition by its id, or by its URL and site, or those of a package by its name and site',
		method: 'DELETE',
		path: '/profiles/{profile}',
		role: 'manager',
		output: removedProfiles,
		example: (idOf) => ({ profile: idOf('profile list') }),
		run: removeProfiles,
	}),
];
