import { fc } from './fuzzing.ts';
import { type FieldModel, renderMessage, type SegmentModel } from './hl7v2.ts';
import { registryMessage, xmlText } from './hl7v3.ts';

/** A patient as a registry holds it, and as HL7 v3 and HL7 v2 write it. */
export interface RegistryPatient {
	identifiers: { root: string; extension: string; authority: string }[];
	socialSecurityNumber: string;
	names: { use: keyof typeof nameUses; prefix: string; given: string[]; family: string; suffix: string }[];
	/** TS. */
	birthTime: string;
	gender: keyof typeof genders;
	addresses: {
		use: keyof typeof addressUses;
		lines: string[];
		city: string;
		state: string;
		postalCode: string;
		county: string;
		country: string;
	}[];
	telecoms: { kind: keyof typeof telecomKinds; value: string }[];
	maritalStatus: string;
	religion: string;
	races: string[];
	ethnicity: string;
	language: string;
	birthPlace: string;
	mothersMaidenName: string;
	multipleBirth: '' | 'true' | 'false' | number;
	/** '' | BL | TS */
	deceased: string;
	citizenship: string;
}

/** HL7 v3 code → v2 code. */
export const nameUses = { '': '', L: 'L', P: 'N', OLD: 'NOUSE', ANON: 'S' } as const;
export const genders = { '': '', F: 'F', M: 'M', UN: 'O' } as const;
const addressUses = { '': '', H: 'H', WP: 'B', TMP: 'C', BAD: '' } as const;
/** v3 scheme and use; v2 components behind the value. Those of PID-13 first. */
export const telecomKinds = {
	home: { scheme: 'tel:', use: 'HP', v2: ['PRN', 'PH'] },
	mobile: { scheme: 'tel:', use: 'MC', v2: ['PRS', 'CP'] },
	mail: { scheme: 'mailto:', use: 'H', v2: ['NET', 'Internet'] },
	work: { scheme: 'tel:', use: 'WP', v2: ['WPN', 'PH'] },
	workFax: { scheme: 'fax:', use: 'WP', v2: ['WPN', 'FX'] },
} as const;

const word = fc
	.string({ minLength: 1, maxLength: 10, unit: fc.constantFrom(...'aZ1äßłЖ日', '𝒳', ..."'&<>|^~\\]-. ") })
	.map((text) => text.replaceAll(/\s+/g, ' ').trim())
	.filter((text) => text !== '');
const maybe = (arbitrary: fc.Arbitrary<string>) => fc.oneof(fc.constant(''), arbitrary);
const oid = fc.array(fc.nat(99_999), { minLength: 1, maxLength: 4 }).map((parts) => `1.2.${parts.join('.')}`);
const digits = (length: number) => fc.nat(10 ** length - 1).map((value) => String(value).padStart(length, '0'));
const day = fc
	.date({ min: new Date('1900-01-01'), max: new Date('2025-12-31'), noInvalidDate: true })
	.map((date) => date.toISOString().slice(0, 10).replaceAll('-', ''));
const stamp = fc.oneof(
	day,
	day.map((text) => text.slice(0, 6)),
	day.map((text) => `${text}1030`),
	day.map((text) => `${text}000000`),
	day.map((text) => `${text}103015.5-0500`),
);
const keys = <T extends object>(table: T) => fc.constantFrom(...(Object.keys(table) as (keyof T)[]));
const kindOrder = Object.keys(telecomKinds);

export const registryPatient: fc.Arbitrary<RegistryPatient> = fc.record({
	identifiers: fc.uniqueArray(fc.record({ root: oid, extension: word, authority: maybe(word) }), {
		minLength: 1,
		maxLength: 3,
		selector: ({ root, extension }) => `${root} ${extension}`,
	}),
	socialSecurityNumber: maybe(digits(9)),
	names: fc.array(
		fc.record({
			use: keys(nameUses),
			prefix: maybe(word),
			given: fc.array(word, { minLength: 1, maxLength: 2 }),
			family: word,
			suffix: maybe(word),
		}),
		{ minLength: 1, maxLength: 2 },
	),
	birthTime: stamp,
	gender: keys(genders),
	addresses: fc.array(
		fc.record({
			use: fc.constantFrom('', 'H', 'WP', 'TMP'),
			lines: fc.array(word, { minLength: 1, maxLength: 2 }),
			city: word,
			state: maybe(word),
			postalCode: maybe(word),
			county: maybe(word),
			country: maybe(fc.constantFrom('DE', 'US')),
		}),
		{ maxLength: 2 },
	),
	telecoms: fc
		.array(fc.record({ kind: keys(telecomKinds), value: digits(8).map((text) => `+${text}`) }), { maxLength: 4 })
		.map((list) => list.toSorted((left, right) => kindOrder.indexOf(left.kind) - kindOrder.indexOf(right.kind)))
		.map((list) => list.map((one) => (one.kind === 'mail' ? { ...one, value: `a${one.value}@example.org` } : one))),
	maritalStatus: fc.constantFrom('', 'M', 'S', 'D', 'W'),
	religion: fc.constantFrom('', '1013', '1041'),
	races: fc.uniqueArray(fc.constantFrom('2106-3', '2054-5', '1004-1'), { maxLength: 2 }),
	ethnicity: fc.constantFrom('', '2135-2', '2178-2'),
	language: fc.constantFrom('', 'de', 'en-US', 'fra'),
	birthPlace: maybe(word),
	mothersMaidenName: maybe(word),
	multipleBirth: fc.constantFrom<RegistryPatient['multipleBirth'][]>('', 'true', 'false', 1, 2),
	deceased: fc.oneof(fc.constantFrom('', 'true', 'false'), stamp),
	citizenship: fc.constantFrom('', 'DE', 'US'),
});

const element = (name: string, text: string, attributes = '') => (text === '' ? '' : `<${name}${attributes}>${xmlText(text)}</${name}>`);
const valued = (name: string, value: string, attribute = 'value', more = '') =>
	value === '' ? '' : `<${name} ${attribute}="${xmlText(value)}"${more}/>`;
const use = (code: string) => (code === '' ? '' : ` use="${code}"`);
const hl7 = '2.16.840.1.113883';
const isFlag = (text: string) => text === 'true' || text === 'false';

/** The content of `<patient>`. */
export function v3Patient(patient: RegistryPatient): string {
	const coded = (name: string, code: string, codeSystem: string) => valued(name, code, 'code', ` codeSystem="${codeSystem}"`);
	const { multipleBirth, deceased, mothersMaidenName, birthPlace, citizenship, language, socialSecurityNumber } = patient;
	const ids = patient.identifiers.map(
		({ root, extension, authority }) =>
			`<id root="${root}" extension="${xmlText(extension)}"${authority === '' ? '' : ` assigningAuthorityName="${xmlText(authority)}"`}/>`,
	);
	const person = [
		...patient.names.map(
			(name) =>
				`<name${use(name.use)}>${element('prefix', name.prefix)}${name.given.map((given) => element('given', given)).join('\n')}` +
				`${element('family', name.family)}${element('suffix', name.suffix)}</name>`,
		),
		...patient.telecoms.map(({ kind, value }) =>
			valued('telecom', telecomKinds[kind].scheme + value, 'value', use(telecomKinds[kind].use)),
		),
		valued('administrativeGenderCode', patient.gender, 'code'),
		valued('birthTime', patient.birthTime),
		isFlag(deceased) ? valued('deceasedInd', deceased) : valued('deceasedTime', deceased),
		typeof multipleBirth === 'number'
			? valued('multipleBirthOrderNumber', String(multipleBirth))
			: valued('multipleBirthInd', multipleBirth),
		...patient.addresses.map(
			(address) =>
				`<addr${use(address.use)}>${address.lines.map((line) => element('streetAddressLine', line)).join('')}${element('city', address.city)}` +
				`${element('county', address.county)}${element('state', address.state)}${element('postalCode', address.postalCode)}` +
				`${element('country', address.country)}</addr>`,
		),
		coded('maritalStatusCode', patient.maritalStatus, `${hl7}.5.2`),
		coded('religiousAffiliationCode', patient.religion, `${hl7}.5.1076`),
		...patient.races.map((race) => coded('raceCode', race, `${hl7}.6.238`)),
		coded('ethnicGroupCode', patient.ethnicity, `${hl7}.6.238`),
		citizenship === '' ? '' : `<asCitizen><politicalNation>${coded('code', citizenship, '1.0.3166.1.2.2')}</politicalNation></asCitizen>`,
		socialSecurityNumber === ''
			? ''
			: `<asOtherIDs classCode="CIT"><id root="${hl7}.4.1" extension="${socialSecurityNumber}"/></asOtherIDs>`,
		mothersMaidenName === ''
			? ''
			: `<personalRelationship><code code="MTH"/><relationshipHolder1><name>${element('family', mothersMaidenName)}</name></relationshipHolder1></personalRelationship>`,
		birthPlace === '' ? '' : `<birthPlace><birthplace>${element('name', birthPlace)}</birthplace></birthPlace>`,
		language === '' ? '' : `<languageCommunication><languageCode code="${language}"/></languageCommunication>`,
	];
	return `${ids.join('')}<patientPerson classCode="PSN">${person.join('\n  ')}</patientPerson>`;
}

export function v3Message(patient: RegistryPatient): string {
	return registryMessage({ patients: [v3Patient(patient)] });
}

/** The same as ADT^A08, with codes named by the OIDs of their systems. */
export function v2Message(patient: RegistryPatient): string {
	const fields: FieldModel[] = Array.from({ length: 30 }, () => '');
	const set = (field: number, value: FieldModel) => {
		fields[field - 1] = value;
	};
	const coded = (code: string, codeSystem: string): FieldModel => (code === '' ? '' : [[[code], [''], [codeSystem]]]);
	const telecom = (work: boolean): FieldModel =>
		patient.telecoms
			.filter(({ kind }) => kind.startsWith('work') === work)
			.map(({ kind, value }) => {
				const [code, equipment] = telecomKinds[kind].v2;
				return kind === 'mail' ? [[''], [code], [equipment], [value]] : [[value], [code], [equipment]];
			});
	set(
		3,
		patient.identifiers.map(({ root, extension, authority }) => [[extension], [''], [''], [authority, root, 'ISO']]),
	);
	set(
		5,
		patient.names.map((name) => [
			...[[name.family], [name.given[0] ?? ''], [name.given[1] ?? ''], [name.suffix], [name.prefix], [''], [nameUses[name.use]]],
		]),
	);
	set(6, patient.mothersMaidenName === '' ? '' : [[[patient.mothersMaidenName]]]);
	set(7, patient.birthTime);
	set(8, genders[patient.gender]);
	set(
		10,
		patient.races.map((race) => [[race], [''], [`${hl7}.6.238`]]),
	);
	set(
		11,
		patient.addresses.map((address) => [
			...[[address.lines[0] ?? ''], [address.lines[1] ?? ''], [address.city], [address.state], [address.postalCode], [address.country]],
			...[[addressUses[address.use]], [''], [address.county]],
		]),
	);
	set(13, telecom(false));
	set(14, telecom(true));
	set(15, patient.language);
	set(16, coded(patient.maritalStatus, `${hl7}.5.2`));
	set(17, coded(patient.religion, `${hl7}.5.1076`));
	set(19, patient.socialSecurityNumber);
	set(22, coded(patient.ethnicity, `${hl7}.6.238`));
	set(23, patient.birthPlace);
	const letter = (text: string) => (text === '' ? '' : text === 'true' ? 'Y' : 'N');
	if (typeof patient.multipleBirth === 'number') set(25, String(patient.multipleBirth));
	else set(24, letter(patient.multipleBirth));
	set(26, coded(patient.citizenship, '1.0.3166.1.2.2'));
	if (isFlag(patient.deceased)) set(30, letter(patient.deceased));
	else set(29, patient.deceased);
	const header = [
		'REGISTRY',
		'HOSP',
		'',
		'',
		'20260105083000+0000',
		'',
		[[['ADT'], ['A08'], ['ADT_A01']]],
		'M1',
		'P',
		'2.5.1',
		'',
		'',
		'',
		'',
		'',
	];
	const segments: SegmentModel[] = [
		{ id: 'MSH', fields: [...header, 'UNICODE UTF-8'] as FieldModel[] },
		{ id: 'PID', fields },
	];
	return renderMessage(segments);
}
