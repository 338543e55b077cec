import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clinicalDocument, read } from '#test/support/cda.ts';
import { clinicalDocument as documentOf, readDocument, section } from '#test/support/cda-sections.ts';
import { MemorySite } from '#test/support/memory-site.ts';

const participant = (name: string, code: string, person: string, attributes = '') =>
	`<${name} ${attributes}><time value="20260111"/>${code}<assignedEntity><id root="1.7" extension="${person}"/>` +
	`<assignedPerson><name><family>${person}</family></name></assignedPerson></assignedEntity></${name}>`;
const legal = (code: string, attributes = '') => participant('legalAuthenticator', code, 'Legal', attributes);
const other = (code: string) => participant('authenticator', `<signatureCode code="${code}"/>`, 'Other');

describe('the signature of a document', () => {
	for (const [name, participants, docStatus, authenticator, note] of [
		['is given', legal('<signatureCode code="S"/>'), 'final', 'Legal', /^$/],
		['is given where a signer is named without a code', legal(''), 'final', 'Legal', /^$/],
		['is required and not given', legal('<signatureCode code="X"/>'), 'preliminary', undefined, /^$/],
		['is intended and not given', legal('<signatureCode code="I"/>'), 'preliminary', undefined, /^$/],
		[
			'is not given by the one who is to sign, but by another',
			other('X') + other('S') + legal('<signatureCode code="X"/>'),
			'preliminary',
			'Other',
			/^$/,
		],
		['is that of nobody', '<legalAuthenticator nullFlavor="NI"/>', undefined, undefined, /^$/],
		['is that of nobody, though the elements are there', legal('<signatureCode code="S"/>', 'nullFlavor="NI"'), undefined, undefined, /^$/],
		[
			'is not known',
			legal('<signatureCode nullFlavor="UNK"/>'),
			undefined,
			'Legal',
			/legalAuthenticator does not say whether it has signed/,
		],
		['has another code', legal('<signatureCode code="Z"/>'), undefined, 'Legal', /the document has no docStatus/],
		['is that of an authenticator alone', other('S'), undefined, 'Other', /^$/],
	] as const) {
		test(`${name}: ${docStatus ?? 'no docStatus'}`, () => {
			const site = new MemorySite();
			const set = read(clinicalDocument({ participants }));
			site.apply(set);
			const [resource] = site.resources('DocumentReference');
			assert.equal(resource?.['docStatus'], docStatus);
			assert.equal((resource?.['authenticator'] as { display: string } | undefined)?.display, authenticator);
			assert.match(set.flags.map(({ text }) => text).join(), note);
		});
	}

	for (const [code, status, interpreter] of [
		['S', 'final', 'Legal'],
		['X', 'preliminary', 'Writer'],
		['I', 'preliminary', 'Writer'],
	] as const) {
		test(`is ${code}: a report is ${status} and interpreted by ${interpreter}`, () => {
			const author =
				'<author><assignedAuthor><id root="1.7" extension="W"/><assignedPerson><name><family>Writer</family></name></assignedPerson></assignedAuthor></author>';
			const header = `<id root="1.9"/><code code="18748-4"/>${author}${legal(`<signatureCode code="${code}"/>`)}`;
			const { entries } = readDocument(documentOf(section('19005-8', '', 'Clear'), header));
			const report = entries.find(({ resourceType }) => resourceType === 'DiagnosticReport')?.resource ?? {};
			assert.equal(report['status'], status);
			assert.deepEqual(
				(report['resultsInterpreter'] as { display: string }[]).map(({ display }) => display),
				[interpreter],
			);
		});
	}
});
