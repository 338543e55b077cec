import { test } from 'node:test';
import { levelOf, queryAttributes } from '#dicom/query/attributes.ts';
import { isConvertible, transferSyntaxes } from '#dicom/transfer-syntax.ts';
import type { ImagingAttribute } from '#record/imaging-query.ts';
import { assertGenerated, tableOf } from '#test/support/generated-text.ts';

const document = 'docs/conformance/dicom.md';
const between = (name: string) => new RegExp(`(?<=<!-- ${name} -->\\n)[^]*?(?=<!-- /${name} -->)`);

const tagOf = (tag: number) => {
	const hex = tag.toString(16).padStart(8, '0').toUpperCase();
	return `(${hex.slice(0, 4)},${hex.slice(4)})`;
};

const sources: Partial<Record<ImagingAttribute, string>> = {
	ModalitiesInStudy: 'Modality (0008,0060) of its series',
	SOPClassesInStudy: 'SOP Class UID (0008,0016) of its instances',
	AvailableTransferSyntaxUID: 'the presentation context, or (0002,0010) of STOW-RS',
};

function sourceOf(attribute: ImagingAttribute): string {
	if (/^NumberOf.*Related/.test(attribute)) return 'counted';
	if (levelOf(attribute) === 'PATIENT') return "the patient's record";
	return sources[attribute] ?? 'the same tag';
}

test('the attributes of the index are those of the code', () => {
	const rows = Object.entries(queryAttributes).map(([keyword, { tag, vr, matching }]) => {
		const attribute = keyword as ImagingAttribute;
		return [levelOf(attribute), keyword, tagOf(tag), vr, matching === 'none' ? 'returned only' : matching, sourceOf(attribute)];
	});
	assertGenerated(document, between('attributes'), `\n${tableOf(['level', 'keyword', 'tag', 'VR', 'matching', 'from'], rows)}\n\n`);
});

test('the transfer syntaxes are those of the code', () => {
	const rows = [...transferSyntaxes].map(([uid, name]) => [name, uid, isConvertible(uid) ? 'converted' : 'as received']);
	assertGenerated(document, between('transfer syntaxes'), `\n${tableOf(['transfer syntax', 'UID', 'on the way out'], rows)}\n\n`);
});
