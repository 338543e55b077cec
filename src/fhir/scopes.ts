import type { Permission } from '#record/scopes.ts';
import type { Interaction } from './resource.ts';

/** The permission that an interaction needs (SMART App Launch 2.2, "Scopes for requesting FHIR resources"). */
export const permissionOf: Readonly<Record<Interaction, Permission>> = {
	read: 'r',
	vread: 'r',
	'history-instance': 'r',
	'history-type': 's',
	'search-type': 's',
	create: 'c',
	update: 'u',
	patch: 'u',
};
