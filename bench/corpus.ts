/**
 * Messages for measuring, made from a seed: the same seed gives the same bytes on every machine. Names, addresses and
 * identifiers are invented here.
 */

/** mulberry32: 32 bits of state, enough to vary a message and the same everywhere. */
export function randomSource(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

type Random = () => number;

function pick<T>(random: Random, values: readonly [T, ...T[]]): T {
	return values[Math.floor(random() * values.length)] ?? values[0];
}

function digits(random: Random, length: number): string {
	let text = '';
	while (text.length < length) text += Math.floor(random() * 10);
	return text;
}

function day(random: Random, firstYear: number, years: number): string {
	const two = (value: number) => String(value).padStart(2, '0');
	return `${firstYear + Math.floor(random() * years)}${two(1 + Math.floor(random() * 12))}${two(1 + Math.floor(random() * 28))}`;
}

const families = ['Abelson', 'Brandt', 'Castellano', 'Dimitrov', 'Eriksen', 'Fontaine', 'Grimaldi', 'Holloway'] as const;
const givens = ['Ada', 'Bruno', 'Clara', 'David', 'Elena', 'Felix', 'Greta', 'Hugo'] as const;
const streets = ['12 Mill Lane', '7 Harbour Street', '220 Chestnut Avenue', '3 Station Road'] as const;
const cities = ['Northfield', 'Eastport', 'Springvale', 'Lakewood'] as const;

function header(random: Random, type: string, sequence: number): string {
	return `MSH|^~\\&|REGISTRATION|NORTH CAMPUS|TRIBUTARY|IMAGING|${day(random, 2026, 1)}103000.000+0000||${type}|MSG${String(sequence).padStart(9, '0')}|P|2.5.1|||AL|NE||UNICODE UTF-8`;
}

/** Which patient it is: a number gives the same identifiers and demographics every time. */
function patientIdentification(seed: number, patient: number): string {
	const random = randomSource(seed ^ Math.imul(patient + 1, 0x9e3779b1));
	const mrn = String(patient).padStart(8, '0');
	const family = pick(random, families);
	const given = pick(random, givens);
	const name = `${family}^${given}^${pick(random, givens)}^^${pick(random, ['', 'Jr', 'III'])}^^L~${family}^${given}^^^^^D`;
	const address = `${pick(random, streets)}^Apt ${digits(random, 2)}^${pick(random, cities)}^IL^${digits(random, 5)}^USA^H`;
	const home = `(312)555-${digits(random, 4)}^PRN^PH^${given.toLowerCase()}.${family.toLowerCase()}@example.org^1^312^${digits(random, 7)}`;
	return (
		`PID|1|${mrn}|${mrn}^^^NORTH&2.16.840.1.113883.19.3&ISO^MR^NORTH~${digits(random, 9)}^^^SSA&2.16.840.1.113883.4.1&ISO^SS||${name}|` +
		`${pick(random, families)}^${pick(random, givens)}^^^^^M|${day(random, 1930, 80)}|${pick(random, ['F', 'M'])}||2106-3^White^CDCREC|${address}|IL|` +
		`${home}|(773)555-${digits(random, 4)}^WPN^PH|en^English^ISO639|M^Married^HL70002|CHR^Christian^HL70006|` +
		`${digits(random, 10)}^^^NORTH^AN|${digits(random, 3)}-00-${digits(random, 4)}||||Chicago|N|1|USA^United States^ISO3166||||N`
	);
}

function patientVisit(random: Random, sequence: number): string {
	const bed = `${pick(random, ['2W', '3E', 'ICU'])}^${digits(random, 3)}^${pick(random, ['A', 'B'])}^NORTH`;
	const attending = `${digits(random, 7)}^${pick(random, families)}^${pick(random, givens)}^^^Dr^MD^^NPI`;
	return `PV1|1|I|${bed}|E|||${attending}|${digits(random, 7)}^${pick(random, families)}^Lee^^^Dr||MED||||7|A0||${attending}|IP|V${String(sequence).padStart(9, '0')}^^^NORTH^VN|${'|'.repeat(24)}${day(random, 2026, 1)}081500`;
}

/** ADT^A08 of about 1.2 KB: MSH, EVN, PID, PD1, NK1, PV1, AL1, DG1. */
export function admission(seed: number, sequence: number, patient: number): string {
	const random = randomSource(seed + sequence);
	return [
		header(random, 'ADT^A08^ADT_A01', sequence),
		`EVN|A08|${day(random, 2026, 1)}102955||01|${digits(random, 6)}^${pick(random, families)}^${pick(random, givens)}`,
		patientIdentification(seed, patient),
		`PD1|||North Family Practice^^${digits(random, 5)}|${digits(random, 7)}^${pick(random, families)}^${pick(random, givens)}^^^Dr`,
		`NK1|1|${pick(random, families)}^${pick(random, givens)}|SPO^Spouse^HL70063|${pick(random, streets)}^^${pick(random, cities)}^IL|(312)555-${digits(random, 4)}`,
		patientVisit(random, sequence),
		`AL1|1|DA|${digits(random, 5)}^Penicillin^RXNORM|MO|Rash`,
		`DG1|1||J18.9^Pneumonia, unspecified organism^I10||${day(random, 2026, 1)}|A`,
		'',
	].join('\r');
}

const analytes = [
	['718-7', 'Hemoglobin', 'g/dL', 13, '12.0-16.0'],
	['6690-2', 'Leukocytes', '10*3/uL', 7, '4.5-11.0'],
	['777-3', 'Platelets', '10*3/uL', 250, '150-400'],
	['2345-7', 'Glucose', 'mg/dL', 95, '70-105'],
	['2951-2', 'Sodium', 'mmol/L', 140, '136-145'],
	['2823-3', 'Potassium', 'mmol/L', 4, '3.5-5.1'],
	['2075-0', 'Chloride', 'mmol/L', 102, '98-107'],
	['2160-0', 'Creatinine', 'mg/dL', 1, '0.6-1.3'],
] as const;

/** ORU^R01 with so many numeric OBX; 20 of them make about 4 KB, one about 1 KB. */
export function observationReport(seed: number, sequence: number, patient: number, observations: number): string {
	const random = randomSource(seed + sequence);
	const time = `${day(random, 2026, 1)}09${Math.floor(random() * 6)}500`;
	const order = `ORD${String(sequence).padStart(9, '0')}`;
	const segments = [
		header(random, 'ORU^R01^ORU_R01', sequence),
		patientIdentification(seed, patient),
		`ORC|RE|${order}^OE|F${order}^LAB||CM||||${time}`,
		`OBR|1|${order}^OE|F${order}^LAB|58410-2^Complete blood count^LN|||${time}|||||||||${digits(random, 7)}^${pick(random, families)}^${pick(random, givens)}||||||${time}||HM|F`,
	];
	for (let index = 0; index < observations; index++) {
		const [code, name, unit, typical, range] = analytes[index % analytes.length] ?? analytes[0];
		const value = (typical * (0.7 + random() * 0.6)).toFixed(1);
		const flag = pick(random, ['N', 'H', 'L', '']);
		segments.push(
			`OBX|${index + 1}|NM|${code}^${name}^LN^L${digits(random, 4)}^${name} (blood)^99LAB|${Math.floor(index / analytes.length) + 1}|${value}|${unit}^${unit}^UCUM|${range}|${flag}|||F|||${time}+0000||${digits(random, 5)}^Tech^Lab||AN${digits(random, 3)}`,
		);
	}
	segments.push('');
	return segments.join('\r');
}

/** `count` messages of one kind, of `patients` patients in turn, each with a control id of its own. */
export function messages(kind: 'adt' | 'oru20' | 'oru', count: number, options: { seed?: number; patients?: number } = {}): Buffer[] {
	const { seed = 1, patients = 1000 } = options;
	return Array.from({ length: count }, (_, sequence) => {
		const patient = sequence % patients;
		if (kind === 'adt') return Buffer.from(admission(seed, sequence, patient));
		return Buffer.from(observationReport(seed, sequence, patient, kind === 'oru20' ? 20 : 4));
	});
}
