import type { FieldDescription } from '../../components/field.tsx';
import type { Values } from '../../components/form.tsx';

export const roleHints = {
	administrator: 'Manages all sites, all users and the service.',
	manager: 'Manages keys, clients, messages and records of the chosen sites.',
	auditor: 'Sees everything in the chosen sites but changes nothing.',
} as const;

export const role: FieldDescription = {
	kind: 'radio',
	name: 'role',
	label: 'Role',
	required: true,
	options: [
		{ value: 'manager', label: 'Manager', hint: roleHints.manager },
		{ value: 'auditor', label: 'Auditor', hint: roleHints.auditor },
		{ value: 'administrator', label: 'Administrator', hint: roleHints.administrator },
	],
};

/** For an auditor, instead of single sites. */
export const allSites: FieldDescription = {
	kind: 'switch',
	name: 'all_sites',
	label: 'All sites',
	hint: 'Sees all sites, including future ones.',
};

export function isAuditor(values: Values): boolean {
	return values['role'] === 'auditor';
}

export function siteChoices(sites: readonly { slug: string; name: string }[]): FieldDescription {
	return { kind: 'choices', name: 'sites', label: 'Sites', options: sites.map(({ slug, name }) => ({ value: slug, label: name })) };
}
