import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { part10Head } from '#dicom/part10.ts';
import { explicitLittleEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { frameAll } from '#surfaces/mllp/frame.ts';
import { adt } from '#test/support/adt.ts';
import { clinicalDocument } from '#test/support/cda.ts';
import { type CorpusFile, corpusFiles } from '#test/support/corpus.ts';
import { element, explicitLittle, sampleDataSet, sequence } from '#test/support/data-set.ts';
import { registryMessage, replacementOf } from '#test/support/hl7v3.ts';
import { mergeMessage, pair, registration, resultMessage } from '#test/support/ledger/messages.ts';
import { corpusDirectory } from '#test/support/needs.ts';
import { multipartBody } from '#test/surfaces/dicomweb/client.ts';
import { associateRequest, commandSet, data, echo, releaseRequest, store, value } from '#test/surfaces/dimse/peer.ts';

/** Valid inputs of each parser, from which others are made. All people in them are invented. */

const hl7v2 = [
	resultMessage('LAB', 'R1', 1),
	mergeMessage('LAB', 'M1', 1, 2),
	adt('A1', 'P1', 1),
	adt('A2', 'P1', 2, 'A03'),
	[
		'MSH|^~\\&|LAB|NORTH|||20260105103000-0500||ORU^R01^ORU_R01|77|P|2.5.1|||||||8859/1',
		'PID|1||4711^^^MRN&1.2.3&ISO^MR~999^^^SSA^SS||R\\T\\D^Alba^^^Dr.^^L~X^Y||19810612|F|||1 Way^^Town^^99999^USA^H||555-1^PRN^PH~^NET^Internet^a@example.org',
		'PV1|1|I|W^389^1^UABH||||12345^Morgan^Rex|||SUR|||||||||V77|||||||||||||||||||||||||20260105',
		'OBR|1|P1|F1|718-7^Hemoglobin^LN|||20260105101500+0000|||||||||||||||20260105102000+0000||LAB|F',
		'OBX|1|NM|718-7^Hemoglobin^LN||13.20|g/dL|12-16|N|||F|||20260105101500+0000',
		'OBX|2|SN|2^B^L||>^5|mg|||||F',
		'OBX|3|CWE|3^C^L||A^Text^L~B^Other^L||||||F',
		'OBX|4|ED|4^D^L||^text^plain^Base64^SGVsbG8=||||||F',
		'OBX|5|TX|5^E^L||line 1\\.br\\line 2~\\H\\bold\\N\\||||||F',
		'NTE|1|L|a note',
		'',
	].join('\r'),
].map((text) => Buffer.from(text));

const entry = (inner: string) =>
	`<component><structuredBody><component><section><templateId root="2.16.840.1.113883.10.20.22.2.3.1"/><code code="30954-2" codeSystem="2.16.840.1.113883.6.1"/><title>Results</title><text><table><tbody><tr ID="r1"><td>Hemoglobin</td></tr></tbody></table></text>${inner}</section></component></structuredBody></component>`;

const organizer =
	'<entry><organizer classCode="BATTERY" moodCode="EVN"><templateId root="2.16.840.1.113883.10.20.22.4.1"/><id root="1.2.9" extension="O1"/>' +
	'<code code="57021-8" codeSystem="2.16.840.1.113883.6.1"/><statusCode code="completed"/><component><observation classCode="OBS" moodCode="EVN">' +
	'<templateId root="2.16.840.1.113883.10.20.22.4.2"/><id root="1.2.9" extension="1"/><code code="718-7" codeSystem="2.16.840.1.113883.6.1"/>' +
	'<text><reference value="#r1"/></text><statusCode code="completed"/><effectiveTime value="20260105"/>' +
	'<value xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="PQ" value="13.2" unit="g/dL"/></observation></component></organizer></entry>';

const hl7v3 = [
	registration('K1', 1),
	registryMessage({
		interaction: 'PRPA_IN201304UV02',
		patients: ['<id root="1.2" extension="a"/>'],
		behind: replacementOf('root="1.2" extension="b"'),
	}),
].map((text) => Buffer.from(text));

const cda = [
	clinicalDocument(),
	clinicalDocument({ set: 'root="1.2.3.4" extension="S1"', version: 2, body: entry(organizer) }),
	clinicalDocument({
		body: '<component><nonXMLBody><text mediaType="text/plain" representation="B64">SGVsbG8=</text></nonXMLBody></component>',
	}),
].map((text) => Buffer.from(text));

const resources: object[] = [
	{
		resourceType: 'Patient',
		id: 'p1',
		meta: { tag: [{ system: 'urn:a', code: 'b' }] },
		text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml"><p title="a">Text</p></div>' },
		identifier: [{ use: 'official', system: 'urn:oid:1.2', value: '7' }],
		name: [{ family: 'Rivers', given: ['Alba', 'B'], period: { start: '2001-02' } }],
		birthDate: '1981-06-12',
		deceasedBoolean: false,
		extension: [{ url: 'http://example.org/x', valueCodeableConcept: { coding: [{ code: 'a' }] } }],
		contained: [{ resourceType: 'Organization', id: 'o', name: 'General' }],
		managingOrganization: { reference: '#o' },
	},
	{
		resourceType: 'Observation',
		status: 'final',
		code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
		subject: { reference: 'Patient/p1' },
		effectiveDateTime: '2026-01-05T10:15:00Z',
		valueQuantity: { value: 13.2, unit: 'g/dL', system: 'http://unitsofmeasure.org', code: 'g/dL' },
		component: [{ code: { text: 'a' }, valueInteger: 1 }],
	},
	pair('K1', 1),
];

const json = resources.map((resource) => Buffer.from(JSON.stringify(resource)));

const report = [
	{
		sop_instance_uid: '1.2.3',
		study_uid: '1.2',
		status: 'IN PROGRESS',
		attributes: { '00100020': { vr: 'LO', Value: ['P-1'] }, note: 'a', dose: 1.5 },
	},
	{ sop_instance_uid: '1.2.3', study_uid: '1.2', status: 'COMPLETED' },
].map((body) => Buffer.from(JSON.stringify(body)));

const implicit = { explicit: false, littleEndian: true };
const dicom = [
	sampleDataSet({ pixels: Buffer.alloc(64) }),
	sampleDataSet({ pixels: Buffer.alloc(64), writing: implicit }),
	Buffer.concat([
		part10Head({ sopClassUid: '1.2.840.10008.5.1.4.1.1.2', sopInstanceUid: '1.2.3', transferSyntaxUid: explicitLittleEndian }),
		sampleDataSet({ pixels: Buffer.alloc(8) }),
	]),
	Buffer.concat([
		part10Head({ sopClassUid: '1.2.840.10008.5.1.4.1.1.2', sopInstanceUid: '1.2.3', transferSyntaxUid: implicitLittleEndian }),
		sampleDataSet({ pixels: Buffer.alloc(8), writing: implicit }),
	]),
	sequence(0x0040_0260, [sequence(0x0040_0260, [element(0x0008_0104, 'LO', 'deep')])], { isDefined: false, writing: explicitLittle }),
];

const pdu = [
	associateRequest(),
	Buffer.concat([associateRequest(), data(value(1, 'command', echo())), releaseRequest]),
	Buffer.concat([data(value(3, 'command', store()), value(3, 'data', sampleDataSet({ pixels: Buffer.alloc(16) })))]),
	commandSet({ 2: '1.2.840.10008.1.1', 256: 48, 272: 1, 2048: 257 }),
];

const mllp = [frameAll(hl7v2), frameAll([Buffer.from('MSH|^~\\&|A')])];

const multipart = [multipartBody([Buffer.from('one'), Buffer.from('two')]), multipartBody([sampleDataSet({ pixels: Buffer.alloc(16) })])];

export type Format = 'hl7v2' | 'xml' | 'hl7v3' | 'cda' | 'json' | 'fhir' | 'mpps' | 'dicom' | 'pdu' | 'mllp' | 'multipart';

const invented: Record<Format, Buffer[]> = {
	hl7v2,
	xml: [...hl7v3, ...cda],
	hl7v3,
	cda,
	json,
	fhir: json,
	mpps: report,
	dicom,
	pdu,
	mllp,
	multipart,
};

/** Larger files would only make fewer cases. */
const corpusBytesMax = 24_576;
const corpusFilesMax = 200;

export function inventedSeeds(format: Format): Buffer[] {
	return invented[format];
}

/** The invented inputs, and those of the corpus where TRIBUTARY_CORPUS names it. */
export function seedsOf(format: Format): Buffer[] {
	if (process.env['TRIBUTARY_CORPUS'] === undefined || !existsSync(join(corpusDirectory, 'index.csv'))) return invented[format];
	const of = (kind: string) =>
		corpusFiles(kind)
			.map(({ bytes }: CorpusFile) => bytes)
			.filter(({ length }) => length <= corpusBytesMax)
			.slice(0, corpusFilesMax);
	const fromCorpus: Partial<Record<Format, () => Buffer[]>> = {
		hl7v2: () => of('hl7v2'),
		hl7v3: () => of('hl7v3'),
		cda: () => of('cda'),
		xml: () => [...of('hl7v3'), ...of('cda')],
		json: () => of('fhir'),
		fhir: () => of('fhir'),
		dicom: () => of('dicom'),
		mllp: () => of('hl7v2').map((bytes) => frameAll([bytes])),
	};
	return [...invented[format], ...(fromCorpus[format]?.() ?? [])];
}
