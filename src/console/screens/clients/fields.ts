import type { ClientRecord } from '#administration/clients.ts';
import type { SettingRecord } from '#administration/settings.ts';
import type { FieldDescription } from '../../components/field.tsx';
import { type FieldGroup, list, text, type Values } from '../../components/form.tsx';
import { siteField } from '../../components/site-field.ts';
import { settingFields, settingValues, statedSettings } from '../../settings.ts';

export const protocolNames: Record<string, string> = { 'hl7-mllp': 'HL7 over MLLP', dicom: 'DICOM' };

const addresses: FieldDescription = {
	kind: 'list',
	name: 'allowed_ips',
	label: 'Allowed addresses',
	required: true,
	code: true,
	placeholder: '192.0.2.10, 198.51.100.0/24',
	hint: 'Write addresses or CIDR ranges; press Enter after each. * permits any address: anyone who can reach the port could then send as this client. It requires ALLOW_ANY_SOURCE, as does any range below /8 (IPv4) or /16 (IPv6).',
	check: (part) =>
		/^(\*|[\da-f.:]+(\/\d{1,3})?)$/i.test(part) ? undefined : `${part} is not an IP address, a range such as 198.51.100.0/24, or *.`,
};

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

const hl7 = (those: readonly SettingRecord[], record?: ClientRecord): FieldGroup => ({
	title: 'HL7 v2',
	when: (values) => list(values, 'protocols').includes('hl7-mllp'),
	hint: 'If several clients list an address, the one whose MSH fields match is used.',
	fields: [
		{ kind: 'text', name: 'sending_application', label: 'Sending application', hint: 'MSH-3', code: true, half: true, maxLength: 227 },
		{ kind: 'text', name: 'sending_facility', label: 'Sending facility', hint: 'MSH-4', code: true, half: true, maxLength: 227 },
		...settingFields(those, 'client', ['hl7v2'], record),
	],
});

const dicom = (those: readonly SettingRecord[], record?: ClientRecord): FieldGroup => ({
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
		...settingFields(those, 'client', ['images', 'audit'], record),
	],
});

const content = (those: readonly SettingRecord[], record?: ClientRecord): FieldGroup => ({
	title: 'What it sends',
	hint: 'If a field is empty, the setting of the site applies.',
	fields: settingFields(those, 'client', ['identity', 'time'], record),
});

const feed = (those: readonly SettingRecord[], record?: ClientRecord): FieldGroup => ({
	title: 'As a feed',
	fields: settingFields(those, 'client', ['feed'], record),
});

/** Returns the groups for the chosen protocols: of a client, or of a new one at one of the sites. */
export function clientGroups(
	those: readonly SettingRecord[],
	of: ClientRecord | readonly { slug: string; name: string }[],
): readonly FieldGroup[] {
	const record = 'protocols' in of ? of : undefined;
	const groups = [hl7(those, record), dicom(those, record), content(those, record), feed(those, record)];
	return [record === undefined ? { fields: [siteField(of as readonly { slug: string; name: string }[]), ...who.fields] } : who, ...groups];
}

export function valuesOf(those: readonly SettingRecord[], client: ClientRecord): Values {
	const { name, protocols, allowed_ips, sending_application, sending_facility, calling_ae, grants } = client;
	return {
		name,
		protocols,
		allowed_ips,
		sending_application: sending_application ?? '',
		sending_facility: sending_facility ?? '',
		calling_ae: calling_ae ?? '',
		grants,
		...settingValues(those, client),
	};
}

export const blank = (those: readonly SettingRecord[]): Values => ({
	site: '',
	name: '',
	protocols: ['hl7-mllp'],
	allowed_ips: [],
	sending_application: '',
	sending_facility: '',
	calling_ae: '',
	grants: [],
	...settingValues(those),
});

/** Builds the API's input for a new client, without empty members. */
export function inputOf(those: readonly SettingRecord[], values: Values) {
	const stated = Object.fromEntries(
		['sending_application', 'sending_facility', 'calling_ae'].map((name) => [name, text(values, name)]).filter(([, value]) => value !== ''),
	) as { sending_application?: string; sending_facility?: string; calling_ae?: string };
	return {
		site: text(values, 'site'),
		name: text(values, 'name'),
		protocols: list(values, 'protocols') as ('hl7-mllp' | 'dicom')[],
		allowed_ips: list(values, 'allowed_ips'),
		grants: list(values, 'grants') as 'query'[],
		...stated,
		...statedSettings(those, values),
	};
}
