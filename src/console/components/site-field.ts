import type { FieldDescription } from './field.tsx';

/** A field for the site to which something belongs. */
export function siteField(sites: readonly { slug: string; name: string }[]): FieldDescription {
	return {
		kind: 'select',
		name: 'site',
		label: 'Site',
		required: true,
		options: [{ value: '', label: 'Choose a site' }, ...sites.map(({ slug, name }) => ({ value: slug, label: name }))],
	};
}
