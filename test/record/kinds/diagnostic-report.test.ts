import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import type { JsonObject } from '#core/json.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { DocumentStudies } from '#record/document.ts';
import { diagnosticReports } from '#record/holdings/diagnostic-reports.ts';
import { imaging } from '#record/holdings/imaging.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import { clinicalDocument, grace, read as readDocument } from '#test/support/cda.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { read } from '../../hl7v2/reading.ts';

const order = (number: string, status = 'F', patient = '100', accession = '') => [
	`PID|1||${patient}`,
	`OBR|1||${number}|CT^CT head^L|||20240102|||||||||||${accession}|||||||${status}`,
	`OBX|1|TX|GDT^Text^L||${status} of ${number}||||||F`,
];

const oru = (segments: string[]) => read('ORU^R01', segments);

function instance(studyUid: string, patientId: string | undefined, accessionNumber: string, number = 1): ChangeSet {
	const identifier = { value: patientId ?? '' };
	const patient: PatientChange = {
		kind: 'patient',
		ref: 0,
		identifiers: [identifier],
		patch: { elements: {}, parts: { identifier: { 'PID-3': [identifier] } } },
		known: 'keep',
		sequence: 1,
	};
	const attributes = {
		studyUid,
		seriesUid: `${studyUid}.1`,
		sopInstanceUid: `${studyUid}.1.${number}`,
		study: { accessionNumber },
		patient: {},
	};
	const stored = { attributes, digest: `${number}`, objectKey: `k${studyUid}.${number}` };
	return {
		changes: [{ kind: 'instance', named: patientId === undefined ? undefined : patient, instance: stored as never, otherPatient: 'aside' }],
		flags: [],
	};
}

const studies = (site: MemorySite) =>
	site
		.resources('DiagnosticReport')
		.map(({ imagingStudy }) =>
			((imagingStudy ?? []) as JsonObject[]).map(({ reference, identifier }) => reference ?? (identifier as JsonObject)['value']),
		);

const idOf = (site: MemorySite, uid: string) => `ImagingStudy/${site.set.of(imaging).study(uid)?.id}`;

describe('a study and its report in one batch', () => {
	for (const [name, first, second] of [
		['by accession number', oru(order('F1', 'F', '100', 'ACC')), instance('1.2', '100', 'ACC')],
		['by the filler number', oru(order('ACC')), instance('1.2', '100', 'ACC')],
		['by UID', oru([...order('F1'), 'ZDS|1.2']), instance('1.2', '100', 'other')],
		['by UID, of an unidentified patient', oru([...order('F1'), 'ZDS|1.2']), instance('1.2', undefined, 'other')],
	] as const) {
		test(`${name}, whichever comes first`, () => {
			for (const sets of [
				[first, second],
				[second, first],
			] as const) {
				const site = new MemorySite();
				for (const set of sets) site.apply(set);
				assert.deepEqual(studies(site), [[idOf(site, '1.2')]]);
			}
		});
	}

	test('are not joined where the patient is another, or is not known and there is only a number', () => {
		for (const set of [instance('1.2', '200', 'ACC'), instance('1.2', undefined, 'ACC')]) {
			for (const sets of [
				[oru(order('F1', 'F', '100', 'ACC')), set],
				[set, oru(order('F1', 'F', '100', 'ACC'))],
			]) {
				const site = new MemorySite();
				for (const one of sets) site.apply(one);
				assert.deepEqual(studies(site), [[]]);
			}
		}
		const site = new MemorySite();
		site.apply(instance('1.2', '200', 'ACC'));
		assert.deepEqual(
			site.apply(oru([...order('F1'), 'ZDS|1.2'])).flags.map(({ code }) => code),
			['other-patient'],
		);
		assert.deepEqual(studies(site), [[]]);
	});

	test('several studies of one number are all the report’s; one that names a UID is about that study alone', () => {
		const site = new MemorySite();
		site.apply(instance('1.2', '100', 'ACC'));
		site.apply(oru(order('F1', 'F', '100', 'ACC')));
		site.apply(oru([...order('F2', 'F', '100', 'ACC'), 'ZDS|1.9']));
		site.apply(instance('1.3', '100', 'ACC'));
		assert.deepEqual(studies(site), [[idOf(site, '1.2'), idOf(site, '1.3')], ['urn:oid:1.9']]);
		const again = site.apply(oru(order('F1', 'F', '100', 'ACC')));
		assert.deepEqual(again.changed, []);
	});
});

describe('a study and the report of a clinical document', () => {
	const document = (version: number, studies: DocumentStudies) =>
		readDocument(
			clinicalDocument({
				id: `root="1.2.3.4" extension="V${version}"`,
				set: 'root="1.2.3.5"',
				version,
				patients: [grace('100').replace('root="1.2.3" ', '')],
			}),
			[{ resourceType: 'DiagnosticReport', item: 'r', resource: { status: 'final', code: { text: 'CT' } }, studies }],
		);

	for (const [name, named, study] of [
		['by UID', { uids: ['1.2'], accession: 'else' }, instance('1.2', '100', 'ACC')],
		['by UID, of an unidentified patient', { uids: ['1.2'], accession: undefined }, instance('1.2', undefined, 'ACC')],
		['by the number of the order', { uids: [], accession: 'ACC' }, instance('1.2', '100', 'ACC')],
	] as const) {
		test(`are joined ${name}, whichever comes first, and stay so in the next version`, () => {
			for (const sets of [
				[document(1, named), study],
				[study, document(1, named)],
			]) {
				const site = new MemorySite();
				for (const set of sets) site.apply(set);
				assert.deepEqual(studies(site), [[idOf(site, '1.2')]]);
				const versions = site.rows('DiagnosticReport').map(({ version }) => version);
				site.apply(document(2, named));
				assert.deepEqual(studies(site), [[idOf(site, '1.2')]]);
				assert.deepEqual(
					site.rows('DiagnosticReport').map(({ version }) => version),
					versions,
				);
			}
		});
	}

	test('a version that names another study is about that one', () => {
		const site = new MemorySite();
		site.apply(document(1, { uids: ['1.2'], accession: undefined }));
		site.apply(document(2, { uids: ['1.3'], accession: undefined }));
		site.apply(instance('1.2', '100', 'A'));
		assert.deepEqual(studies(site), [['urn:oid:1.3']]);
		site.apply(instance('1.3', '100', 'A'));
		assert.deepEqual(studies(site), [[idOf(site, '1.3')]]);
	});

	test('are not joined where the patient is another', () => {
		for (const named of [
			{ uids: ['1.2'], accession: undefined },
			{ uids: [], accession: 'ACC' },
		]) {
			const site = new MemorySite();
			site.apply(instance('1.2', '200', 'ACC'));
			assert.deepEqual(
				site.apply(document(1, named)).flags.map(({ code }) => code),
				['other-patient'],
			);
			assert.deepEqual(studies(site), [[]]);
		}
		const site = new MemorySite();
		site.apply(document(1, { uids: [], accession: 'ACC' }));
		site.apply(instance('1.2', '200', 'ACC'));
		assert.deepEqual(studies(site), [[]]);
	});
});

describe('a refused message', () => {
	test('leaves neither a report nor a joined study behind', () => {
		const site = new MemorySite();
		site.apply(oru(order('F1')));
		const before = JSON.stringify(site.all());
		const foreign = [...order('F2', 'F', '200'), 'OBR|2||F1|CT^CT head^L'];
		assert.throws(() => site.apply(oru(foreign)), Failure);
		assert.equal(JSON.stringify(site.all()), before);
		assert.deepEqual(site.set.of(diagnosticReports).ofOrder('MSH urn%3Aid%3ALAB urn%3Aid%3AHOSP|F2'), []);
	});
});
