import type { SettingRecord } from '#administration/settings.ts';
import type { SiteRecord } from '#administration/sites.ts';
import type { FieldDescription } from '../../components/field.tsx';
import type { FieldGroup } from '../../components/form.tsx';
import { settingFields, type Topic } from '../../settings.ts';

const name: FieldDescription = {
	kind: 'text',
	name: 'name',
	label: 'Name',
	required: true,
	half: true,
	maxLength: 200,
	placeholder: 'North Hospital',
};
const slug: FieldDescription = {
	kind: 'text',
	name: 'slug',
	label: 'Short name',
	required: true,
	code: true,
	half: true,
	maxLength: 63,
	placeholder: 'north',
	hint: 'Lower-case letters, digits and hyphens. It cannot be changed later.',
};
/** The fields that a site cannot do without. */
export const leastOfSite: readonly FieldDescription[] = [name, slug];
const topics: readonly { topic: Topic; title: string }[] = [
	{ topic: 'time', title: 'Times' },
	{ topic: 'hl7v2', title: 'HL7 v2' },
	{ topic: 'fhir', title: 'Writing through FHIR' },
	{ topic: 'images', title: 'Images' },
	{ topic: 'audit', title: 'Audit trail' },
];
const title: FieldDescription = {
	kind: 'text',
	name: 'ae_title',
	label: 'AE title',
	code: true,
	half: true,
	maxLength: 16,
	placeholder: 'NORTH',
	hint: 'The AE title that modalities call. It decides which site receives their images and queries.',
};
export const newSite = (those: readonly SettingRecord[]): readonly FieldGroup[] => [
	{
		fields: [...leastOfSite, title, ...settingFields(those, 'site', ['identity', 'time'])],
	},
];

/** @param limits if the user may set the limits, and how long the site keeps its data */
export const siteSettings = (those: readonly SettingRecord[], site: SiteRecord, limits: boolean): readonly FieldGroup[] => [
	{ title: 'Identity', fields: [name, title, ...settingFields(those, 'site', ['identity'], site)] },
	...topics
		.map(({ topic, title }) => ({ title, fields: settingFields(those, 'site', [topic], site) }))
		.filter(({ fields }) => fields.length > 0),
	{
		title: 'How long data is kept, in days',
		hint: 'If a field is empty, the setting of the network applies. 0 keeps data for ever. Only administrators can change these values. Retention counts what would be removed.',
		fields: settingFields(those, 'site', ['retention'], site).map((field) => ({ ...field, fixed: !limits })),
	},
	{
		title: 'Limits of this site',
		hint: 'They apply per node, below the node’s own limits. If a field is empty, only the node’s limit applies. Only administrators can set them.',
		fields: [
			{
				kind: 'number',
				name: 'waiting_max',
				label: 'Waiting messages',
				half: true,
				fixed: !limits,
				hint: 'At the limit, senders have to wait: MLLP reading pauses, and HTTP requests get 503.',
			},
			{
				kind: 'number',
				name: 'associations_max',
				label: 'DICOM associations',
				half: true,
				fixed: !limits,
				hint: 'At the limit, further associations are rejected. Open ones continue.',
			},
		],
	},
];
