import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import type { DocumentEntry } from '#record/document.ts';
import { documents } from '#record/holdings/documents.ts';
import { imaging } from '#record/holdings/imaging.ts';
import { keyDigest } from '#record/key-digest.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import { clinicalDocument, condition, grace, observation, read, relatedDocument, type TestDocument } from '#test/support/cda.ts';
import { MemorySite } from '#test/support/memory-site.ts';

/** A document of the set `S`, unless it says otherwise. */
const version = (number: number, document: TestDocument = {}) =>
	clinicalDocument({ id: `root="1.2.3.4" extension="V${number}"`, set: 'root="1.2.3.5" extension="S"', version: number, ...document });

function site(...documents: [text: string, entries?: readonly DocumentEntry[]][]): MemorySite {
	const memory = new MemorySite();
	for (const [text, entries = []] of documents) memory.apply(read(text, entries));
	return memory;
}

const documentsOf = (memory: MemorySite) =>
	memory.resources('DocumentReference').map(({ masterIdentifier, status, relatesTo }) => ({
		id: (masterIdentifier as JsonObject)['value'],
		status,
		relatesTo: ((relatesTo ?? []) as JsonObject[]).map(({ code, target }) => {
			const { reference, identifier } = target as JsonObject;
			const row = memory.rows('DocumentReference').find(({ id }) => reference === `DocumentReference/${id}`);
			return `${code} ${row ? (JSON.parse(row.text).masterIdentifier.value as string) : `absent ${(identifier as JsonObject)['value']}`}`;
		}),
	}));

const conditionsOf = (memory: MemorySite) =>
	Object.fromEntries(
		memory.resources('Condition').map(({ code, verificationStatus, clinicalStatus }) => {
			const withdrawn = JSON.stringify(verificationStatus ?? '').includes('entered-in-error');
			assert.equal(clinicalStatus === undefined, withdrawn);
			return [(code as JsonObject)['text'], withdrawn ? 'withdrawn' : 'stated'];
		}),
	);

describe('versions of a document', () => {
	test('a newer version replaces the one before it, by number or by naming it', () => {
		const byNumber = site([version(1)], [version(2)], [version(3)]);
		assert.deepEqual(documentsOf(byNumber), [
			{ id: 'V1', status: 'superseded', relatesTo: [] },
			{ id: 'V2', status: 'superseded', relatesTo: ['replaces V1'] },
			{ id: 'V3', status: 'current', relatesTo: ['replaces V2'] },
		]);
		const replacing = clinicalDocument({
			id: 'root="1.2.3.4" extension="D2"',
			header: '',
			participants: relatedDocument('RPLC', '<id root="1.2.3.4" extension="D1"/>'),
		});
		assert.deepEqual(documentsOf(site([clinicalDocument()], [replacing])), [
			{ id: 'D1', status: 'superseded', relatesTo: [] },
			{ id: 'D2', status: 'current', relatesTo: ['replaces D1'] },
		]);
	});

	test('without numbers the later one replaces', () => {
		const at = (id: string, effectiveTime: string) =>
			clinicalDocument({ id: `root="1.2.3.4" extension="${id}"`, set: 'root="1.2.3.5"', effectiveTime });
		const memory = site([at('A', '202601')], [at('B', '20260201')], [at('C', '20260115')]);
		assert.deepEqual(
			documentsOf(memory).map(({ id, status }) => [id, status]),
			[
				['A', 'superseded'],
				['B', 'current'],
				['C', 'superseded'],
			],
		);
	});

	test('one that comes late is kept as superseded; neither its entries nor its patient count', () => {
		const memory = site([version(2), [condition('a')]]);
		const context = memory.apply(read(version(1, { patients: [grace('G1').replace('Arlington', 'Boston')] }), [condition('b')]));
		assert.deepEqual(
			context.flags.map(({ code }) => code),
			['late-document'],
		);
		assert.deepEqual(
			documentsOf(memory).map(({ id, status }) => [id, status]),
			[
				['V2', 'current'],
				['V1', 'superseded'],
			],
		);
		assert.deepEqual(conditionsOf(memory), { a: 'stated' });
		assert.match(memory.texts('Patient')[0] ?? '', /Arlington/);
		const parent = clinicalDocument({ id: 'root="9" extension="P"' });
		const replacing = clinicalDocument({
			id: 'root="9" extension="Q"',
			participants: relatedDocument('RPLC', '<id root="9" extension="P"/>'),
		});
		assert.deepEqual(documentsOf(site([replacing], [parent])), [
			{ id: 'Q', status: 'current', relatesTo: ['replaces absent P'] },
			{ id: 'P', status: 'superseded', relatesTo: [] },
		]);
	});

	test('the same document again updates it, and keeps its Binary where the bytes are the same', () => {
		const memory = site([version(1), [condition('a')]]);
		const again = memory.apply(read(version(1), [condition('a')]));
		assert.deepEqual(again.changed, []);
		assert.equal(memory.set.of(documents).binaries.length, 1);
		memory.apply(read(version(1, { id: 'root="1.2.3.4" extension="other"', title: 'Other' }), [condition('a')]));
		const [document, ...others] = memory.resources('DocumentReference');
		assert.deepEqual(others, []);
		assert.equal(document?.['description'], 'Other');
		assert.equal(memory.set.of(documents).binaries.length, 2);
		assert.equal(memory.rows('Condition').length, 1);
	});

	test('an addendum and a transformation stand beside their parent', () => {
		const child = (id: string, code: string) =>
			clinicalDocument({
				id: `root="1.2.3.4" extension="${id}"`,
				participants: relatedDocument(code, '<id root="1.2.3.4" extension="D1"/>'),
			});
		assert.deepEqual(documentsOf(site([clinicalDocument()], [child('A', 'APND')], [child('X', 'XFRM')])), [
			{ id: 'D1', status: 'current', relatesTo: [] },
			{ id: 'A', status: 'current', relatesTo: ['appends D1'] },
			{ id: 'X', status: 'current', relatesTo: ['transforms D1'] },
		]);
	});

	test('what another patient has under the same ids stays as it is, and a person is told', () => {
		const memory = site([version(1)]);
		memory.set.of(documents).addOwner(keyDigest('urn:oid:1.2.3.4|V1'), 'somebody');
		memory.apply(read(version(2, { patients: [grace('G2')] })));
		assert.deepEqual(
			documentsOf(memory).map(({ status }) => status),
			['current', 'current'],
		);
		const twice = memory.apply(read(version(1, { patients: [grace('G2')] })));
		assert.deepEqual(
			twice.flags.map(({ code }) => code),
			['other-patient', 'late-document'],
		);
	});
});

describe('what documents state', () => {
	test('a completed report with another content is amended, with more results appended, and stays so when it is sent again', () => {
		const report = (conclusion: string, status: string, time: string, ...results: string[]): DocumentEntry[] => [
			...results.map((result) => observation(result, '1')),
			{
				resourceType: 'DiagnosticReport',
				item: 'R',
				resource: { status, code: { text: 'CT' }, conclusion, effectiveDateTime: time, identifier: [{ value: time }] },
				refers: { result: results.map((item) => ({ resourceType: 'Observation' as const, item })) },
			},
		];
		const memory = site([version(1), report('No fracture', 'preliminary', '2020', 'a')]);
		const states: unknown[] = [];
		for (const [number, conclusion, status, ...results] of [
			[2, 'No fracture', 'final', 'a'],
			[3, 'No fracture', 'final', 'a'],
			[4, 'No fracture', 'final', 'a', 'b'],
			[5, 'Fracture', 'final', 'a', 'b'],
			[5, 'Fracture', 'final', 'a', 'b'],
			[6, 'Fracture', 'final', 'a', 'c'],
			[7, 'Fracture', 'preliminary', 'a', 'c'],
		] as const) {
			memory.apply(read(version(number), report(conclusion, status, `202${number}`, ...results)));
			states.push(memory.resources('DiagnosticReport')[0]?.['status']);
		}
		assert.deepEqual(states, ['final', 'final', 'appended', 'amended', 'amended', 'amended', 'preliminary']);
	});

	test('is shared by its item within the patient, and no further', () => {
		const other = clinicalDocument({ id: 'root="1.2.3.4" extension="D2"', patients: [grace('G2')] });
		const beside = clinicalDocument({ id: 'root="1.2.3.4" extension="D3"', effectiveTime: '20260111' });
		const memory = site([clinicalDocument(), [condition('a')]], [other, [condition('a')]], [beside, [condition('a', 'a later')]]);
		assert.deepEqual(
			memory.resources('Condition').map(({ code }) => (code as JsonObject)['text']),
			['a later', 'a'],
		);
	});

	describe('under the key that a document has, however often its id occurs there', () => {
		const once = (text: string, keys: { exact: string[]; item: string; general: string[] }): DocumentEntry => {
			const { exact, item, general } = keys;
			return { ...condition(item, 'X'), resource: { code: { text: 'X' }, note: [{ text }] }, otherItems: { exact, general } };
		};
		const alone = (text: string) => once(text, { exact: ['id code place'], item: 'id', general: [] });
		const listed = (text: string, place = 'place') => once(text, { exact: [], item: `id code ${place}`, general: ['id'] });
		const told = (memory: MemorySite) =>
			memory
				.resources('Condition')
				.map(
					({ note, verificationStatus }) => `${(note as JsonObject[])[0]?.['text']}${verificationStatus === undefined ? '' : ' withdrawn'}`,
				);

		test('what was alone is known when it is listed twice', () => {
			assert.deepEqual(told(site([version(1), [alone('1')]], [version(2), [listed('2'), listed('2 else', 'else')]])), ['2', '2 else']);
			const other = { id: 'root="1" extension="O"', set: 'root="1" extension="O"', effectiveTime: '20260301' };
			const both = site([version(1), [alone('1')]], [version(1, other), [listed('2'), listed('2 else', 'else')]]);
			assert.deepEqual(told(both), ['2', '2 else']);
			both.apply(read(version(2), []));
			assert.deepEqual(told(both), ['2', '2 else']);
		});

		test('what was listed twice is known when it is alone, and again when it is sent as it was', () => {
			const both = [listed('1'), listed('1 else', 'else')];
			const other = { id: 'root="1" extension="O"', set: 'root="1" extension="O"', effectiveTime: '20260301' };
			const memory = site([version(1), both], [version(1, other), [alone('2')]]);
			assert.deepEqual(told(memory), ['2', '1 else']);
			memory.apply(read(version(1), both));
			assert.deepEqual(told(memory), ['2', '1 else']);
			memory.apply(read(version(2), [alone('1 again')]));
			assert.deepEqual(told(memory), ['2', '1 else withdrawn']);
		});

		test('a document keeps the key that it has, where both are stored', () => {
			const other = { id: 'root="1" extension="O"', set: 'root="1" extension="O"', effectiveTime: '20260301' };
			const stored = [condition('id', 'alone'), condition('id code place', 'listed')];
			const memory = site([version(1), stored.slice(0, 1)], [version(1, other), stored.slice(1)]);
			assert.equal(memory.resources('Condition').length, 2);
			memory.apply(read(version(1), [alone('1')]));
			assert.deepEqual(
				memory.resources('Condition').map(({ code }) => (code as JsonObject)['text']),
				['X', 'listed'],
			);
		});

		test('a key that tells less is not that of another thing with the same id', () => {
			const another = { ...listed('2'), resource: { code: { text: 'Y' }, note: [{ text: 'Y' }] } };
			assert.deepEqual(told(site([version(1), [alone('1')]], [version(2), [another, listed('2 else', 'else')]])), ['2 else', 'Y']);
		});
	});

	test('the later document has the last word, whichever comes first', () => {
		const late = clinicalDocument({ id: 'root="1.2.3.4" extension="D2"', effectiveTime: '20260111' });
		for (const order of [
			[clinicalDocument(), late],
			[late, clinicalDocument()],
		]) {
			const memory = new MemorySite();
			for (const text of order) memory.apply(read(text, [condition('a', text === late ? 'late' : 'early')]));
			assert.deepEqual(conditionsOf(memory), { late: 'stated' });
		}
	});

	test('is withdrawn when no current document states it, and valid when one states it again', () => {
		const memory = site([version(1), [condition('a'), condition('b'), observation('o', '1')]]);
		memory.apply(read(clinicalDocument({ id: 'root="1.2.3.4" extension="beside"' }), [condition('b')]));
		memory.apply(read(version(2), []));
		assert.deepEqual(conditionsOf(memory), { a: 'withdrawn', b: 'stated' });
		assert.equal(memory.resources('Observation')[0]?.['status'], 'entered-in-error');
		memory.apply(read(version(3), [condition('a')]));
		assert.deepEqual(conditionsOf(memory), { a: 'stated', b: 'stated' });
		memory.apply(read(version(3), []));
		assert.deepEqual(conditionsOf(memory), { a: 'withdrawn', b: 'stated' });
	});

	test('is valid R4 when it is withdrawn, with an abatement too', () => {
		const over = { ...condition('a'), resource: { ...condition('a').resource, abatementDateTime: '2025' } };
		const memory = site([version(1), [over]], [version(2)]);
		for (const resource of memory.all()) assert.deepEqual(validateResource(resource), []);
		assert.deepEqual(conditionsOf(memory), { a: 'withdrawn' });
	});

	test('refers to what the same document states, before or behind it', () => {
		const memory = site([version(1), [observation('panel', '', ['x', 'y']), observation('x', '1'), observation('y', '2')]]);
		const [panel, ...members] = memory.rows('Observation');
		const references = (JSON.parse(panel?.text ?? '{}').hasMember as JsonObject[]).map(({ reference }) => reference);
		assert.deepEqual(
			references,
			members.map(({ id }) => `Observation/${id}`),
		);
	});

	test('a document that is refused leaves nothing behind', () => {
		const memory = site([version(1), [condition('a')]]);
		const before = JSON.stringify(memory.all());
		const broken = { ...observation('x', '1'), refers: { hasMember: [{ resourceType: 'Observation' as const, item: 'none' }] } };
		assert.throws(() => memory.apply(read(version(2), [condition('b'), broken])));
		assert.equal(JSON.stringify(memory.all()), before);
		assert.equal(memory.set.of(documents).binaries.length, 1);
		memory.apply(read(version(2), []));
		assert.deepEqual(conditionsOf(memory), { a: 'withdrawn' });
	});

	test('the study that a document names is related to it, where it is the patient’s', () => {
		const order = { participants: '<inFulfillmentOf><order><id root="1.2.4" extension="ACC"/></order></inFulfillmentOf>' };
		for (const [patientId, isRelated] of [
			['G1', true],
			['G2', false],
		] as const) {
			const memory = new MemorySite();
			const [patient] = read(clinicalDocument({ patients: [grace(patientId)] })).changes;
			const attributes = { studyUid: '1.2', seriesUid: '1.2.1', sopInstanceUid: '1.2.1.1', study: { accessionNumber: 'ACC' }, patient: {} };
			const instance = { attributes, digest: '1', objectKey: 'k' } as never;
			memory.apply({ changes: [{ kind: 'instance', named: patient as PatientChange, instance, otherPatient: 'aside' }], flags: [] });
			memory.apply(read(clinicalDocument(order)));
			const { related } = (memory.resources('DocumentReference')[0]?.['context'] ?? {}) as JsonObject;
			const [first] = (related ?? []) as JsonObject[];
			assert.equal(first?.['reference'], isRelated ? `ImagingStudy/${memory.set.of(imaging).study('1.2')?.id}` : undefined);
		}
	});

	test('a document about several patients is each one’s own, without entries', () => {
		const memory = site([clinicalDocument({ patients: [grace('G1'), grace('G2'), grace('G1')] }), [condition('a')]]);
		const [first, second, ...others] = memory.resources('DocumentReference');
		assert.deepEqual(others, []);
		assert.notDeepEqual(first?.['subject'], second?.['subject']);
		assert.equal(memory.set.of(documents).binaries.length, 1);
		assert.deepEqual(memory.rows('Condition'), []);
	});
});
