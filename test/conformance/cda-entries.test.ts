import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import type { DocumentEntry } from '#record/document.ts';
import { countsOf, type DocumentCounts, kindsOfCategory } from '#test/support/cda-counts.ts';
import { faultsOf, type ReadDocument, readDocument } from '#test/support/cda-sections.ts';
import { type CorpusFile, corpusFiles } from '#test/support/corpus.ts';
import { without } from '#test/support/needs.ts';

function read({ bytes }: CorpusFile): ReadDocument | undefined {
	try {
		return readDocument(bytes);
	} catch (error) {
		if (error instanceof Failure) return undefined;
		throw error;
	}
}

function found(entries: readonly DocumentEntry[]): DocumentCounts {
	const counts: DocumentCounts = { problems: 0, allergies: 0, results: 0, vitalSigns: 0, procedures: 0, reports: 0 };
	const kinds = { Condition: 'problems', AllergyIntolerance: 'allergies', Procedure: 'procedures', DiagnosticReport: 'reports' } as const;
	for (const { resourceType, resource } of entries) {
		const category = (resource['category'] as { coding?: { code?: string }[] }[] | undefined)?.[0]?.coding?.[0]?.code ?? '';
		const kind = resourceType === 'Observation' ? kindsOfCategory[category] : kinds[resourceType];
		if (kind !== undefined) counts[kind] += 1;
	}
	return counts;
}

describe('what the shared clinical documents state', { skip: without('corpus') }, () => {
	const documents = without('corpus') ? [] : corpusFiles('cda').map((file) => ({ file, document: read(file) }));
	const taken = documents.flatMap(({ file, document }) => (document === undefined ? [] : [{ file, document }]));

	test('is read of every one of them but the one with a document type declaration', () => {
		const refused = documents.filter(({ document }) => document === undefined).map(({ file }) => file.path.split('/').at(-1));
		assert.deepEqual(refused, ['CDADocumentWithXXEInjection.xml']);
		assert.ok(taken.length >= 70, `${taken.length} documents`);
	});

	test('is as much as XPath counts', () => {
		const expected: Record<string, DocumentCounts> = {};
		const counted: Record<string, DocumentCounts> = {};
		for (const { file, document } of taken) {
			expected[file.path] = countsOf(file.bytes.toString('utf8'));
			counted[file.path] = found(document.entries);
		}
		assert.deepEqual(counted, expected);
		for (const kind of ['problems', 'allergies', 'results', 'vitalSigns', 'procedures', 'reports'] as const) {
			assert.ok(Object.values(counted).filter((counts) => counts[kind] > 0).length >= 5, kind);
		}
	});

	test('is valid FHIR R4, by our validation and by that of @medplum/core', () => {
		for (const { file, document } of taken) assert.deepEqual(faultsOf(document.entries), [], file.path);
	});

	test('is the same when it is read again, and each entry has an item of its own', () => {
		for (const { file, document } of taken) {
			assert.deepEqual(JSON.stringify(read(file)), JSON.stringify(document), file.path);
			const items = document.entries.map(({ resourceType, item }) => `${resourceType} ${item}`);
			assert.equal(new Set(items).size, items.length, file.path);
			const known = new Set(items);
			const referred = document.entries.flatMap(({ refers }) => Object.values(refers ?? {}).flat());
			assert.ok(
				referred.every(({ resourceType, item }) => known.has(`${resourceType} ${item}`)),
				file.path,
			);
		}
	});
});
