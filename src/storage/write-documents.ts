import type { WorkingSets } from './read-set.ts';
import { packBytes, plainArray, type Statement, textArray } from './statement.ts';
import { insertBinaries, upsertDocumentEntries } from './statements/write-documents.ts';

type Send = (statement: Statement, values: readonly unknown[]) => void;

/** What documents state, and their bytes. */
export function sendDocuments(send: Send, sets: WorkingSets, lastUpdated: string): void {
	const statements = [...sets].flatMap(([siteId, { documents }]) =>
		[...documents.changed.values()].map((statement) => ({ siteId, ...statement })),
	);
	if (statements.length > 0) {
		send(upsertDocumentEntries, [
			plainArray(statements.map(({ siteId }) => siteId)),
			plainArray(statements.map(({ documentId }) => documentId)),
			textArray(statements.map(({ resourceType }) => resourceType)),
			textArray(statements.map(({ item }) => item)),
			plainArray(statements.map(({ patientId }) => patientId)),
			plainArray(statements.map(({ resourceId }) => resourceId)),
			textArray(statements.map(({ statedAt }) => statedAt)),
			plainArray(statements.map(({ isCurrent }) => isCurrent)),
		]);
	}
	const binaries = [...sets].flatMap(([siteId, { documents }]) => documents.binaries.map((binary) => ({ siteId, ...binary })));
	if (binaries.length === 0) return;
	const packed = packBytes(binaries.map(({ bytes }) => bytes));
	send(insertBinaries, [
		plainArray(binaries.map(({ siteId }) => siteId)),
		plainArray(binaries.map(({ id }) => id)),
		plainArray(binaries.map(({ documentId }) => documentId)),
		textArray(binaries.map(({ contentType }) => contentType)),
		lastUpdated,
		packed.offsets,
		packed.lengths,
		packed.bytes,
	]);
}
