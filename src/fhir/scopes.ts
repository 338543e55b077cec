import type { Permission } from '#record/scopes.ts';
import type { Interaction, ResourceDefinition } from './resource.ts';

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
	delete: 'd',
};

/** These parts are supported of SMART App Launch 2.2 ("Conformance"): backend services, by the provider of the site. */
export const smartCapabilities = [
	'client-confidential-asymmetric',
	'permission-v1',
	'permission-v2',
	'permission-patient',
	'permission-user',
] as const;

/** The scopes that permit something, in both versions of SMART; for each type those that its interactions use. */
export function supportedScopes(definitions: readonly ResourceDefinition[]): string[] {
	const ofAll = ['system/*.cruds', 'system/*.rs', 'system/*.*', 'system/*.read', 'system/*.write'];
	return [
		...ofAll,
		...definitions.map(({ type, interactions }) => {
			const used = new Set(interactions.map((interaction) => permissionOf[interaction]));
			return `system/${type}.${[...'cruds'].filter((letter) => used.has(letter as Permission)).join('')}`;
		}),
		'user/*.cruds',
		'patient/*.rs',
	];
}
