import type { FieldDescription } from '../../components/field.tsx';

export const scopes: FieldDescription = {
	kind: 'choices',
	name: 'scopes',
	label: 'Limited to',
	hint: 'If you choose nothing, the key may do everything at its site.',
	options: [
		{ value: 'read', label: 'Read', hint: 'FHIR: read, search, export' },
		{ value: 'write', label: 'Write', hint: 'FHIR: create, change, delete, import' },
		{ value: 'ingest', label: 'Ingest', hint: 'HL7 and procedure steps over HTTP' },
		{ value: 'imaging', label: 'Imaging', hint: 'DICOMweb' },
	],
};

export const expires: FieldDescription = {
	kind: 'text',
	name: 'expires',
	label: 'Ends',
	code: true,
	placeholder: '365d',
	hint: 'Write the last day (2027-01-31), or a time from now (365d, 12h). If it is empty, the key never ends.',
};
