import { IndependentDocument } from './hl7v3.ts';

/** How many resources of each kind a document states, counted with XPath and without the product's reader. */
export interface DocumentCounts {
	problems: number;
	allergies: number;
	results: number;
	vitalSigns: number;
	procedures: number;
	reports: number;
}

export type DocumentKind = keyof DocumentCounts;

/** Categories of Observation by what they are counted as. */
export const kindsOfCategory: Readonly<Record<string, DocumentKind>> = { laboratory: 'results', 'vital-signs': 'vitalSigns' };

const templates = (...roots: string[]) => `v3:templateId[${roots.map((root) => `@root="${root}"`).join(' or ')}]`;
const ccda = (id: number) => `2.16.840.1.113883.10.20.22.4.${id}`;
const ccd = (id: number) => `2.16.840.1.113883.10.20.1.${id}`;
const pcc = (id: number) => `1.3.6.1.4.1.19376.1.5.3.1.4.${id}`;
const inSection = (...codes: string[]) => `ancestor::v3:section[${codes.map((code) => `v3:code/@code="${code}"`).join(' or ')}]`;
const inTemplate = (...roots: string[]) => `ancestor::v3:section[${templates(...roots)}]`;

const happened = '(not(@moodCode) or @moodCode="EVN") and not(@nullFlavor) and not(v3:subject)';
const isNamed =
	'(v3:code[@code or @displayName or .//v3:originalText or v3:translation/@code] or v3:text[v3:reference or normalize-space()]) and not(@negationInd="true")';
/** Functional and mental status, which are observations whatever their templates. */
const surveys = inSection('47420-5', '10190-7');
/** Family, plans, goals, concerns, indications and medications, where problems are those of others or reasons. */
const others = inSection(
	'10157-6',
	'18776-5',
	'75310-3',
	'61146-7',
	'62387-6',
	'11383-7',
	'59768-2',
	'59772-4',
	'42348-3',
	'10160-0',
	'11369-6',
);

const laboratory = ['18717-9', '18719-5', '18723-7', '18725-2', '18768-2', '18769-0', '26436-6', '26437-4', '11502-2'];
const allergyObservation = templates(ccda(7), ccd(18), pcc(6));
const paths: Readonly<Record<Exclude<DocumentKind, 'reports'>, string>> = {
	problems:
		`//v3:observation[(${templates(ccda(4), ccd(28), pcc(5))} or (@classCode="COND" and not(v3:templateId)))` +
		` and not(${allergyObservation}) and not(${templates(ccd(39), ccd(54))}) and not(${surveys}) and not(${others}) and not(parent::v3:entryRelationship/parent::v3:observation) and ${happened}]`,
	allergies: `//v3:observation[((${allergyObservation} and not(${templates(ccd(39))})) or (parent::v3:entry and ${inSection('10155-0')})) and ${happened}]`,
	results:
		`(//v3:observation | //v3:organizer)[(${templates(ccda(1), ccda(2), ccd(31), ccd(32))} or ${inSection(...laboratory)} or ${inTemplate('1.3.6.1.4.1.19376.1.3.3.2.1', '1.3.6.1.4.1.19376.1.3.3.2.2')})` +
		` and not(${surveys}) and not(${inSection('8716-3')}) and (self::v3:organizer or ${isNamed}) and not(ancestor::v3:entryRelationship[parent::v3:observation and not(@typeCode="COMP" or @typeCode="SPRT")]) and ${happened}]`,
	vitalSigns: `(//v3:observation | //v3:organizer)[(${inSection('8716-3')} or ${inTemplate('2.16.840.1.113883.10.20.1.16')}) and (self::v3:organizer or ${isNamed}) and ${happened}]`,
	procedures:
		`(//v3:entry/v3:procedure | //v3:entry/v3:act | //v3:entry/v3:observation)[(${templates(ccda(12), ccda(13), ccda(14), ccd(29))} or (self::v3:procedure and ${inSection('29554-3')}))` +
		` and not(${others}) and ${happened}]`,
};

/** The same id with the same code under the same heading is the same thing, said twice. */
const recognition: Readonly<Record<keyof typeof paths, readonly string[]>> = {
	problems: [
		'concat(v3:id[1]/@root, "^", v3:id[1]/@extension)',
		'v3:value/@code',
		`v3:entryRelationship/v3:observation[${templates(ccda(6), ccd(50))}]/v3:value/@code`,
		'v3:entryRelationship/v3:observation/v3:value/@value',
		'concat(v3:code/@code, v3:effectiveTime/v3:low/@value, v3:effectiveTime/v3:high/@value)',
		'ancestor::v3:section[1]/v3:code/@code = "11450-4"',
	],
	allergies: ['count(preceding::*) + count(ancestor::*)'],
	results: ['count(preceding::*) + count(ancestor::*)'],
	vitalSigns: ['count(preceding::*) + count(ancestor::*)'],
	procedures: ['count(preceding::*) + count(ancestor::*)'],
};

/** Counts of the text of a document; prefixes that it uses without declaring them are declared. */
export function countsOf(text: string): DocumentCounts {
	const document = new IndependentDocument(declared(text));
	const count = (kind: keyof typeof paths) => {
		const found = document.strings(paths[kind], ...recognition[kind]);
		return new Set(found.map((key, index) => (key[0] === '^' ? String(index) : JSON.stringify(key)))).size;
	};
	return {
		problems: count('problems'),
		allergies: count('allergies'),
		results: count('results'),
		vitalSigns: count('vitalSigns'),
		procedures: count('procedures'),
		reports: reportsIn(document),
	};
}

/** Of whom a document says that it is: the first id of each recordTarget. */
export function recordTargetsIn(text: string): string[] {
	const document = new IndependentDocument(declared(text));
	const id = 'concat(v3:id[1]/@root, "^", v3:id[1]/@extension)';
	return document.strings('/v3:ClinicalDocument/v3:recordTarget/v3:patientRole', id).flat();
}

/** A diagnostic imaging or laboratory report is one as a whole. */
function reportsIn(document: IndependentDocument): number {
	const isReport =
		'/v3:ClinicalDocument[v3:code[@code="18748-4" or @code="11502-2" or @code="26436-6"] or .//v3:section/v3:code[@code="121070"]]';
	return document.values(`${isReport}[.//v3:section/v3:text or .//v3:observation]`).length;
}

function declared(text: string): string {
	let result = text.replace(/^\ufeff/, '').trimStart();
	for (const prefix of ['xsi', 'sdtc', 'voc']) {
		if (result.includes(`${prefix}:`) && !result.includes(`xmlns:${prefix}=`)) {
			result = result.replace(/<(?:\w+:)?ClinicalDocument\b/, `$& xmlns:${prefix}="urn:${prefix}"`);
		}
	}
	return result;
}
