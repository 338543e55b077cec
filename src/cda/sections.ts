import { entryOf } from '#fhir/mapping/table.ts';
import type { XmlElement } from '#hl7v3/element.ts';

/**
 * Says how the entries of a section are read. `diagnoses` belong to an encounter. `findings` and `impression` belong to a diagnostic
 * report, and `catalog` names its images. `left-out` has no resource here.
 */
export type SectionKind =
	| 'problems'
	| 'diagnoses'
	| 'encounters'
	| 'allergies'
	| 'results'
	| 'vital-signs'
	| 'social-history'
	| 'survey'
	| 'exam'
	| 'procedures'
	| 'findings'
	| 'impression'
	| 'catalog'
	| 'left-out';

interface Row {
	kind: SectionKind;
	/** Roots of templateId, whatever the version: C-CDA, CCD, C32 and C83, IHE PCC, IHE XD-LAB, DIR. */
	templates: readonly string[];
	/** LOINC; of diagnostic imaging reports DICOM (PS3.16 Annex D), too. */
	codes: readonly string[];
}

const ccda = (...ids: string[]) => ids.map((id) => `2.16.840.1.113883.10.20.22.2.${id}`);
const ccd = (...ids: string[]) => ids.map((id) => `2.16.840.1.113883.10.20.1.${id}`);
const c83 = (...ids: string[]) => ids.map((id) => `2.16.840.1.113883.3.88.11.83.${id}`);
const pcc = (...ids: string[]) => ids.map((id) => `1.3.6.1.4.1.19376.1.5.3.1.${id}`);
const lab = (...ids: string[]) => ids.map((id) => `1.3.6.1.4.1.19376.1.3.3.2.${id}`);

/** IHE XD-LAB (PaLM TF-3 §6.3.2.3): laboratory specialties, which are codes of sections and of documents. */
export const laboratorySpecialties: readonly string[] = [
	...['26435-8', '26436-6', '26437-4', '26438-2', '18717-9', '18718-7', '18719-5', '18720-3', '18721-1', '18722-9', '18723-7'],
	...['18724-5', '18725-2', '18727-8', '18728-6', '18729-4', '18767-4', '18768-2', '18769-0'],
];

const rows: readonly Row[] = [
	{
		kind: 'problems',
		templates: [...ccda('5', '5.1', '20'), ...ccd('11'), ...pcc('3.6', '3.8'), ...c83('103', '104'), '2.16.840.1.113883.3.83.11.83.103'],
		codes: ['11450-4', '11348-0'],
	},
	{
		kind: 'diagnoses',
		templates: [...ccda('24', '28', '34', '35', '36', '37', '43'), ...pcc('3.3', '3.7'), ...c83('110', '111')],
		codes: ['46241-6', '42347-5', '11535-2', '78375-3', '10219-4', '10218-6', '59769-0', '55109-3', '59776-5', '29308-4'],
	},
	{ kind: 'encounters', templates: [...ccda('22', '22.1'), ...ccd('3'), ...pcc('1.1.5.3.3'), ...c83('127')], codes: ['46240-8'] },
	{ kind: 'allergies', templates: [...ccda('6', '6.1'), ...ccd('2'), ...pcc('3.13'), ...c83('102')], codes: ['48765-2', '10155-0'] },
	{
		kind: 'results',
		templates: [...ccda('3', '3.1', '16'), ...ccd('14'), ...pcc('3.27', '3.28'), ...c83('122'), ...lab('1', '2')],
		codes: ['30954-2', '11502-2', '11493-4', ...laboratorySpecialties],
	},
	{
		kind: 'vital-signs',
		templates: [...ccda('4', '4.1'), ...ccd('16'), ...pcc('3.25', '1.1.5.3.2'), ...c83('119'), '2.16.840.1.113883.10.20.9.2'],
		codes: ['8716-3'],
	},
	{ kind: 'social-history', templates: [...ccda('17'), ...ccd('15'), ...pcc('3.16', '3.16.1'), ...c83('126')], codes: ['29762-2'] },
	{ kind: 'survey', templates: [...ccda('14', '56'), ...ccd('5'), ...pcc('3.17')], codes: ['47420-5', '10190-7'] },
	{
		kind: 'exam',
		templates: [...pcc('3.24', '3.26', '1.9.15'), '2.16.840.1.113883.10.20.2.10', '2.16.840.1.113883.10.20.2.5'],
		codes: ['29545-1', '11384-5', '10184-0', '10210-3', '8709-8', '8710-6', '10200-4'],
	},
	{
		kind: 'procedures',
		templates: [...ccda('7', '7.1', '23', '25', '27'), ...ccd('7', '12'), ...pcc('3.11', '3.12', '1.1.5.3.5'), ...c83('108', '145')],
		codes: ['47519-4', '29554-3', '10223-6', '59774-0', '46264-8'],
	},
	{ kind: 'findings', templates: ['2.16.840.1.113883.10.20.6.1.2'], codes: ['121070', '18782-3'] },
	{ kind: 'impression', templates: [], codes: ['121072', '121076', '19005-8', '55110-1', '22637-3'] },
	{ kind: 'catalog', templates: ['2.16.840.1.113883.10.20.6.1.1'], codes: ['121181'] },
	{
		kind: 'left-out',
		templates: [
			...ccda('1', '1.1', '2', '2.1', '10', '11', '11.1', '15', '18', '21', '21.1', '29', '30', '38', '44', '57', '58', '60', '61'),
			...ccd('1', '4', '6', '8', '9', '10'),
			...pcc('3.14', '3.15', '3.19', '3.20', '3.21', '3.22', '3.23', '3.31', '3.34', '3.35', '1.1.5.3.7'),
			...c83('101', '112', '113', '114', '115', '116', '117', '124', '125'),
		],
		codes: [
			...['10160-0', '10183-2', '75311-1', '42346-7', '29549-3', '18610-6', '11369-6', '10157-6', '18776-5', '48768-6', '42348-3'],
			...['75310-3', '61146-7', '62387-6', '11383-7', '42349-1', '69730-0', '61144-2', '59772-4', '59768-2'],
		],
	},
];

const byTemplate = tableOf(({ templates }) => templates);
const byCode = tableOf(({ codes }) => codes);

function tableOf(keys: (row: Row) => readonly string[]): Readonly<Record<string, SectionKind>> {
	return Object.fromEntries(rows.flatMap((row) => keys(row).map((key): [string, SectionKind] => [key, row.kind])));
}

/** A section of the document's body, at any depth. */
export interface Section {
	element: XmlElement;
	/** Undefined for a section that nothing is known of, and that stands in none that is. */
	kind: SectionKind | undefined;
	/** The section's key: its code, else its first template. */
	place: string;
	/** True if the section itself is in the table; else its kind comes from the section around it. */
	isOwn: boolean;
	/** It, or one that it stands in, is about somebody else than the patient: the context of a section is that of the sections within (CDA R2 §4.4). */
	isOfOther: boolean;
}

/** Every section of the body in document order, outer before inner. */
export function sectionsOf(document: XmlElement): Section[] {
	const found: Section[] = [];
	const visit = (holder: XmlElement, above: SectionKind | undefined, isAboveOfOther: boolean): void => {
		for (const component of holder.children('component')) {
			const element = component.first('section');
			if (element === undefined) continue;
			const own = kindOf(element);
			const kind = own ?? above;
			const isOfOther = isAboveOfOther || element.first('subject') !== undefined;
			found.push({ element, kind, place: placeOf(element), isOwn: own !== undefined, isOfOther });
			visit(element, kind, isOfOther);
		}
	};
	const body = document.first('component', 'structuredBody');
	if (body !== undefined) visit(body, undefined, false);
	return found;
}

/** Finds a section by template, and by code only if no template is listed: codes are wrong more often. */
function kindOf(section: XmlElement): SectionKind | undefined {
	for (const id of section.children('templateId')) {
		const kind = entryOf(byTemplate, id.attribute('root'));
		if (kind !== undefined) return kind;
	}
	return entryOf(byCode, section.first('code')?.attribute('code') ?? '');
}

/** It is told with every entry, so that it is cut where it is no code. */
function placeOf(section: XmlElement): string {
	const place = section.first('code')?.attribute('code') || (section.first('templateId')?.attribute('root') ?? '');
	return place.slice(0, placeMax);
}

/** It bounds the text of a flag, not what is kept of the document. */
const placeMax = 100;
