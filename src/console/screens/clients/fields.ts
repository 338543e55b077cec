import type { ClientRecord } from '#administration/clients.ts';
import type { FieldDescription } from '../../components/field.tsx';
import { type FieldGroup, list, text, type Values } from '../../components/form.tsx';
import { siteField } from '../../components/site-field.ts';
import { pageFact } from '../../page-facts.ts';

export const protocolNames: Record<string, string> = { 'hl7-mllp': 'HL7 over MLLP', dicom: 'DICOM' };

const addresses: FieldDescription = {
	kind: 'list',
	name: 'allowed_ips',
	label: 'Allowed addresses',
	required: true,
	code: true,
	placeholder: '192.0.2.10, 198.51.100.0/24',
	hint: 'Addresses or CIDR ranges; press Enter after each. * permits any address: anyone who can reach the port could then send as this client. It requires ALLOW_ANY_SOURCE.',
	check: (part) =>
		/^(\*|[\da-f.:]+(\/\d{1,3})?)$/i.test(part) ? undefined : `${part} is not an IP address, a range such as 198.51.100.0/24, or *.`,
};

const event = (part: string) =>
	/^[A-Z]\d\d$/.test(part) ? undefined : `${part} is not an event. An event is a letter and two digits, such as A03.`;

const who: FieldGroup = {
	fields: [
		{ kind: 'text', name: 'name', label: 'Name', required: true, half: true, maxLength: 200, placeholder: 'Admission system' },
		{
			kind: 'choices',
			name: 'protocols',
			label: 'Protocols',
			required: true,
			half: true,
			options: Object.entries(protocolNames).map(([value, label]) => ({ value, label })),
		},
		addresses,
	],
};

const hl7: FieldGroup = {
	title: 'HL7 v2',
	when: (values) => list(values, 'protocols').includes('hl7-mllp'),
	hint: 'If several clients list an address, the one whose MSH fields match is used.',
	fields: [
		{ kind: 'text', name: 'sending_application', label: 'Sending application', hint: 'MSH-3', code: true, half: true, maxLength: 227 },
		{ kind: 'text', name: 'sending_facility', label: 'Sending facility', hint: 'MSH-4', code: true, half: true, maxLength: 227 },
		{
			kind: 'radio',
			name: 'ack_mode',
			label: 'Acknowledgement',
			required: true,
			options: [
				{ value: 'original', label: 'Original mode', hint: 'Always AA or AE. Right for most senders.' },
				{ value: 'enhanced', label: 'Enhanced mode', hint: 'CA, CE and CR, as MSH-15 and MSH-16 request.' },
			],
		},
		{
			kind: 'list',
			name: 'also',
			label: 'Additional events',
			code: true,
			half: true,
			placeholder: 'A03, A11',
			hint: `Choose from ${pageFact('hl7v2-optional-events')}. All other supported events are always accepted.`,
			check: event,
		},
		{
			kind: 'list',
			name: 'ignore',
			label: 'Events to ignore',
			code: true,
			half: true,
			placeholder: 'A60',
			hint: 'They are answered AA and logged, but change nothing.',
			check: event,
		},
	],
};

const dicom: FieldGroup = {
	title: 'DICOM',
	when: (values) => list(values, 'protocols').includes('dicom'),
	fields: [
		{ kind: 'text', name: 'calling_ae', label: 'Calling AE title', code: true, half: true, maxLength: 16, placeholder: 'CT01' },
		{
			kind: 'choices',
			name: 'grants',
			label: 'May also',
			half: true,
			options: [{ value: 'query', label: 'Query and retrieve', hint: 'C-FIND, C-MOVE and C-GET' }],
		},
	],
};

/** Returns the groups for the chosen protocols. */
export function clientGroups(sites: readonly { slug: string; name: string }[] | undefined): readonly FieldGroup[] {
	if (sites === undefined) return [who, hl7, dicom];
	return [{ fields: [siteField(sites), ...who.fields] }, hl7, dicom];
}

export function valuesOf(client: ClientRecord): Values {
	const { name, protocols, allowed_ips, sending_application, sending_facility, calling_ae, ack_mode, also, ignore, grants } = client;
	return {
		name,
		protocols,
		allowed_ips,
		sending_application: sending_application ?? '',
		sending_facility: sending_facility ?? '',
		calling_ae: calling_ae ?? '',
		ack_mode,
		also,
		ignore,
		grants,
	};
}

export const blank: Values = {
	site: '',
	name: '',
	protocols: ['hl7-mllp'],
	allowed_ips: [],
	sending_application: '',
	sending_facility: '',
	calling_ae: '',
	ack_mode: 'original',
	also: [],
	ignore: [],
	grants: [],
};

/** Builds the API's input for a new client, without empty members. */
export function inputOf(values: Values) {
	const stated = Object.fromEntries(
		['sending_application', 'sending_facility', 'calling_ae'].map((name) => [name, text(values, name)]).filter(([, value]) => value !== ''),
	) as { sending_application?: string; sending_facility?: string; calling_ae?: string };
	return {
		site: text(values, 'site'),
		name: text(values, 'name'),
		protocols: list(values, 'protocols') as ('hl7-mllp' | 'dicom')[],
		allowed_ips: list(values, 'allowed_ips'),
		ack_mode: text(values, 'ack_mode') as 'original' | 'enhanced',
		also: list(values, 'also'),
		ignore: list(values, 'ignore'),
		grants: list(values, 'grants') as 'query'[],
		...stated,
	};
}
