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
	hint: 'The AE title that modalities call. It decides which site receives their images and queries.',
};
const authority: FieldDescription = {
	kind: 'text',
	name: 'default_authority',
	label: 'Assigning authority',
	code: true,
	half: true,
	placeholder: 'urn:oid:1.2.3',
	hint: 'The identifier system for patient identifiers that arrive without one.',
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

/** @param limits if the user may set the limits */
export const siteSettings = (limits: boolean): readonly FieldGroup[] => [
	{ title: 'Identity', fields: [name, title, authority] },
	{
		title: 'Writing through FHIR',
		fields: [
			{
				kind: 'switch',
				name: 'update_creates',
				label: 'Create on update',
				hint: 'PUT to an unused id creates a resource with that id. If this is off, the request is refused.',
			},
			{
				kind: 'switch',
				name: 'check_references',
				label: 'References to patients must resolve',
				hint: 'A resource is refused if it refers to a patient that does not exist.',
			},
		],
	},
	{
		title: 'Images',
		fields: [
			{
				kind: 'radio',
				name: 'instance_policy',
				label: 'Different content under a known SOP Instance UID',
				required: true,
				options: [
					{ value: 'keep', label: 'Keep the first', hint: 'The new object waits in quarantine for a decision.' },
					{ value: 'replace', label: 'Replace', hint: 'The new object becomes the instance. The first one goes into quarantine.' },
					{ value: 'refuse', label: 'Refuse', hint: 'The sender gets an error.' },
				],
			},
		],
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
