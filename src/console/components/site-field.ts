import type { FieldDescription } from './field.tsx';

/** To which of the sites something belongs. */
export function siteField(sites: readonly { slug: string; name: string }[]): FieldDescription {
	return {
		kind: 'select',
		name: 'site',
		label: 'Site',
		required: true,
		options: [{ value: '', label: 'Choose a site' }, ...sites.map(({ slug, name }) => ({ value: slug, label: name }))],
	};
}
