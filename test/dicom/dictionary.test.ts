import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { standardVrOf } from '#dicom/dictionary.ts';
import { generateStandardKeywords, keywordsOf } from '#dicom/generator/standard-keywords.ts';
import { corrections, type DictionaryElement, generateStandardVrs, vrsOf } from '#dicom/generator/standard-vrs.ts';
import { namesAttribute } from '#dicom/keywords.ts';

const load: (name: string) => unknown = createRequire(import.meta.url);
const { data } = load('dcmjs') as { data: { DicomMetaDictionary: { nameMap: Record<string, DictionaryElement> } } };
const elements = Object.values(data.DicomMetaDictionary.nameMap);

test('the VRs are those that the generator makes of the dictionary', () => {
	const written = readFileSync(new URL('../../src/dicom/standard-vrs.ts', import.meta.url), 'utf8');
	assert.equal(written, generateStandardVrs(elements));
});

test('the keywords are those that the generator makes of the dictionary', () => {
	const written = readFileSync(new URL('../../src/dicom/standard-keywords.ts', import.meta.url), 'utf8');
	assert.equal(written, generateStandardKeywords(Object.entries(data.DicomMetaDictionary.nameMap)));
	assert.throws(() => keywordsOf([['Patient Name', { tag: '(0010,0010)', vr: 'PN' }]]), /is no keyword/);
});

test('an attribute is named by keyword, by tag, or by several that lead into sequences', () => {
	const named = [
		'PatientID',
		'00100020',
		'RequestAttributesSequence.ScheduledProcedureStepID',
		'00400275.00400009',
		'0072006D',
		'00091001',
	];
	for (const text of named) assert.ok(namesAttribute(text), text);
	for (const text of ['PatientId', 'patientid', '', 'PatientID.', '00100011', 'limit', 'RETIRED_OverlayTime', 'MediaStorageSOPClassUID']) {
		assert.ok(!namesAttribute(text), text);
	}
});

test('every correction is still needed', () => {
	const vrs = vrsOf(elements);
	for (const [tag, vr] of Object.entries(corrections)) assert.notEqual(vrs.get(tag), vr, tag);
});

test('an element of the dictionary that cannot be understood is not passed over', () => {
	assert.throws(() => vrsOf([{ tag: '(60xx,3000)', vr: 'OW' }]), /is no tag/);
	assert.throws(() => vrsOf([{ tag: '(0008,0005)', vr: 'qq' }]), /is no VR/);
});

describe('the VR of an element', () => {
	const cases: [number, string, string][] = [
		[0x0008_0005, 'CS', 'Specific Character Set'],
		[0x0010_0010, 'PN', "Patient's Name"],
		[0x0008_041c, 'OB', 'Prior Record Key'],
		[0x0028_0106, 'XS', 'Smallest Image Pixel Value, US or SS'],
		[0x0028_3006, 'OW', 'LUT Data, US or OW'],
		[0x7fe0_0010, 'OW', 'Pixel Data, OB or OW'],
		[0x0066_0040, 'OL', 'Long Primitive Point Index List, which the dictionary has as UL'],
		[0x0006_0001, 'SQ', 'Current Frame Functional Groups Sequence, which the dictionary does not have'],
		[0x0072_006d, 'UN', 'Selector UN Value'],
		[0x6002_3000, 'OW', 'Overlay Data of the second overlay'],
		[0x5004_0010, 'US', 'Number of Points of the third curve'],
		[0x0008_0000, 'UL', 'the length of a group'],
		[0x0009_0010, 'LO', 'a private creator'],
		[0x0009_1001, 'UN', 'a private element'],
		[0x0008_fffe, 'UN', 'an element that is not known'],
		[0x0002_0010, 'UN', 'file meta information, which is no part of a data set'],
		[0xfffe_e000, 'UN', 'an item'],
	];
	for (const [tag, vr, name] of cases) {
		test(`is ${vr}: ${name}`, () => {
			assert.equal(standardVrOf(tag), vr);
		});
	}
});
