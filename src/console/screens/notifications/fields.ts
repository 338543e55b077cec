import type { FieldDescription } from '../../components/field.tsx';

export const severityChoices: FieldDescription = {
	kind: 'choices',
	name: 'severities',
	label: 'Severities',
	required: true,
	options: [
		{ value: 'critical', label: 'Critical', hint: 'Data waits or is at risk.' },
		{ value: 'warning', label: 'Warning', hint: 'Somebody has to look at it.' },
		{ value: 'info', label: 'Info', hint: 'It is worth knowing.' },
	],
};

export const alertNames: FieldDescription = {
	kind: 'list',
	name: 'alerts',
	label: 'Only these alerts',
	placeholder: 'TributaryRefusalsHigh',
	hint: 'If you choose none, all alerts of these severities count.',
};

/** The sites of the person of whose alerts is told. */
export function siteNames(sites: readonly { slug: string; name: string }[]): FieldDescription {
	const options = sites.map(({ slug, name }) => ({ value: slug, label: name }));
	return {
		kind: 'choices',
		name: 'sites',
		label: 'Only these sites',
		hint: 'If you choose none, all sites that the person may see count.',
		options,
	};
}
