import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { randomSource } from '../corpus.ts';

/** FHIR resources for measuring, made from a number: the same number gives the same resource everywhere. All is invented here. */

const families = ['Abelson', 'Brandt', 'Castellano', 'Dimitrov', 'Eriksen', 'Fontaine', 'Grimaldi', 'Holloway', 'Iwata', 'Jansen'] as const;
const givens = ['Ada', 'Bruno', 'Clara', 'David', 'Elena', 'Felix', 'Greta', 'Hugo', 'Ines', 'Jonas'] as const;
const codes = ['718-7', '2951-2', '2823-3', '2075-0', '6690-2', '777-3', '789-8', '4544-3', '787-2', '2160-0'] as const;

const at = <T>(values: readonly T[], index: number): T => values[index % values.length] as T;

export function patientId(index: number): string {
	return `00000000-0000-4000-9000-${index.toString(16).padStart(12, '0')}`;
}

/** A family name that few patients share: three syllables of a number. */
function family(index: number): string {
	const syllables = ['ba', 'ce', 'di', 'fo', 'gu', 'ha', 'ke', 'li', 'mo', 'nu', 'pa', 're', 'si', 'to', 'vu', 'za'];
	const name = [index & 15, (index >> 4) & 15, (index >> 8) & 15, (index >> 12) & 15].map((part) => at(syllables, part)).join('');
	return `${at(families, index)}-${name}`;
}

export function familyName(index: number): string {
	return family(index);
}

export function birthDate(index: number): string {
	const random = randomSource(index ^ 0x5bd1e995);
	const two = (value: number) => String(value).padStart(2, '0');
	return `${1930 + Math.floor(random() * 85)}-${two(1 + Math.floor(random() * 12))}-${two(1 + Math.floor(random() * 28))}`;
}

export function patient(index: number, more: object = {}): string {
	const given = at(givens, index >> 3);
	return JSON.stringify({
		resourceType: 'Patient',
		...more,
		identifier: [{ system: 'urn:oid:2.16.840.1.113883.19.3', value: `M${index}` }],
		active: true,
		name: [{ use: 'official', text: `${given} ${family(index)}`, family: family(index), given: [given] }],
		telecom: [
			{ system: 'phone', value: `(312)555-${String(index % 10000).padStart(4, '0')}`, use: 'home' },
			{ system: 'email', value: `p${index}@example.org` },
		],
		gender: index % 2 === 0 ? 'female' : 'male',
		birthDate: birthDate(index),
		address: [
			{ text: '12 Mill Lane, Northfield', line: ['12 Mill Lane'], city: 'Northfield', state: 'IL', postalCode: '60093', country: 'US' },
		],
	});
}

export function observation(patient: string, index: number): string {
	const day = String(1 + (index % 28)).padStart(2, '0');
	return JSON.stringify({
		resourceType: 'Observation',
		status: 'final',
		category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }] }],
		code: { coding: [{ system: 'http://loinc.org', code: at(codes, index) }], text: 'Laboratory result' },
		subject: { reference: `Patient/${patient}` },
		effectiveDateTime: `2024-${String(1 + (index % 12)).padStart(2, '0')}-${day}T08:30:00Z`,
		valueQuantity: { value: (index % 400) / 10 + 1, unit: 'g/dL', system: 'http://unitsofmeasure.org', code: 'g/dL' },
	});
}

export const observationCode = (index: number): string => at(codes, index);

/** Writes patients and five observations of each as NDJSON. */
export async function writeCorpus(path: string, patients: number): Promise<void> {
	const out = createWriteStream(path, { highWaterMark: 1 << 20 });
	const write = async (lines: string[]) => {
		if (!out.write(`${lines.join('\n')}\n`)) await once(out, 'drain');
	};
	for (let start = 0; start < patients; start += 1000) {
		const lines: string[] = [];
		for (let index = start; index < Math.min(start + 1000, patients); index++) lines.push(patient(index, { id: patientId(index) }));
		await write(lines);
	}
	for (let start = 0; start < patients; start += 200) {
		const lines: string[] = [];
		for (let index = start; index < Math.min(start + 200, patients); index++) {
			for (let number = 0; number < 5; number++) lines.push(observation(patientId(index), index * 5 + number));
		}
		await write(lines);
	}
	out.end();
	await once(out, 'finish');
}
