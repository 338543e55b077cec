import type { FieldDescription } from '../../components/field.tsx';
import type { FieldGroup } from '../../components/form.tsx';

const name: FieldDescription = {
	kind: 'text',
	name: 'name',
	label: 'Name',
	required: true,
	half: true,
	maxLength: 200,
	placeholder: 'North Hospital',
};
const title: FieldDescription = {
	kind: 'text',
	name: 'ae_title',
	label: 'AE title',
	code: true,
	half: true,
	maxLength: 16,
	placeholder: 'NORTH',
	hint: 'What modalities call; it decides to which site images and queries go.',
};
const authority: FieldDescription = {
	kind: 'text',
	name: 'default_authority',
	label: 'Assigning authority',
	code: true,
	half: true,
	placeholder: 'urn:oid:1.2.3',
	hint: 'The system of patient identifiers that come without one.',
};

export const newSite: readonly FieldGroup[] = [
	{
		fields: [
			name,
			{
				kind: 'text',
				name: 'slug',
				label: 'Short name',
				required: true,
				code: true,
				half: true,
				maxLength: 63,
				placeholder: 'north',
				hint: 'Lower-case letters, digits and hyphens. It cannot be changed later.',
			},
			title,
			authority,
		],
	},
];

/** `limits`: whether who looks may set them. */
export const siteSettings = (limits: boolean): readonly FieldGroup[] => [
	{ title: 'Identity', fields: [name, title, authority] },
	{
		title: 'Writing through FHIR',
		fields: [
			{
				kind: 'switch',
				name: 'update_creates',
				label: 'An update creates',
				hint: 'PUT to an id that is free creates the resource under it. Off: such a request is refused.',
			},
			{
				kind: 'switch',
				name: 'check_references',
				label: 'References to patients must resolve',
				hint: 'A resource that refers to a patient who is not there is refused.',
			},
		],
	},
	{
		title: 'Images',
		fields: [
			{
				kind: 'radio',
				name: 'instance_policy',
				label: 'Other content under a known SOP Instance UID',
				required: true,
				options: [
					{ value: 'keep', label: 'Keep the first', hint: 'The new one waits in quarantine for a decision.' },
					{ value: 'replace', label: 'Replace', hint: 'The new one takes its place; the former is kept aside.' },
					{ value: 'refuse', label: 'Refuse', hint: 'The sender gets an error.' },
				],
			},
		],
	},
	{
		title: 'Limits of this site',
		hint: 'On each node, below the node’s own limits. Empty: those alone. Administrators set them.',
		fields: [
			{
				kind: 'number',
				name: 'waiting_max',
				label: 'Waiting messages',
				half: true,
				fixed: !limits,
				hint: 'At the limit senders are held back: reading pauses, HTTP is answered 503.',
			},
			{
				kind: 'number',
				name: 'associations_max',
				label: 'DICOM associations',
				half: true,
				fixed: !limits,
				hint: 'At the limit a further one is rejected; those that are open go on.',
			},
		],
	},
];
