import type { FieldDescription } from '../../components/field.tsx';
import type { Values } from '../../components/form.tsx';

export const roleHints = {
	administrator: 'All sites, users, and the service itself.',
	manager: 'Keys, clients, messages and records of the chosen sites.',
	auditor: 'Reads everything of the chosen sites, changes nothing.',
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

/** Of an auditor, in the place of single sites. */
export const allSites: FieldDescription = {
	kind: 'switch',
	name: 'all_sites',
	label: 'Every site',
	hint: 'Reads all sites, those that come later as well.',
};

export function isAuditor(values: Values): boolean {
	return values['role'] === 'auditor';
}

export function siteChoices(sites: readonly { slug: string; name: string }[]): FieldDescription {
	return { kind: 'choices', name: 'sites', label: 'Sites', options: sites.map(({ slug, name }) => ({ value: slug, label: name })) };
}
