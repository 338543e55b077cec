import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { without } from './support/needs.ts';
import { pasted } from './support/pasted.ts';
import { type TestService, testService } from './support/service.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** The lines of a document that people paste into a shell. */
function linesOf(document: string): string {
	return [...document.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => lines).join('');
}

/** The lines of README.md that a newcomer pastes beside the running service, in one go. */
function firstMessageLines(): string {
	return linesOf(readme.slice(readme.indexOf('\n## A first message'), readme.indexOf('\n## Surfaces')));
}

/** The lines of the guides, in the order of their list. */
function guideLines(): string {
	const folder = new URL('../docs/guides/', import.meta.url);
	const order = [...readFileSync(new URL('README.md', folder), 'utf8').matchAll(/^\d\. \[.*\]\((\S+)\)$/gm)].map(([, name = '']) => name);
	assert.equal(order.length, readdirSync(folder).length - 1, 'the list names each guide');
	return order.map((name) => linesOf(readFileSync(new URL(name, folder), 'utf8'))).join('');
}

/** The ports that the documents show. */
const documented = {
	fhir: /(?<=127\.0\.0\.1:)8080\b/g,
	hl7: /(?<=127\.0\.0\.1:)8081\b/g,
	mpps: /(?<=127\.0\.0\.1:)8082\b/g,
	mllp: /(?<=127\.0\.0\.1\/)3000\b/g,
	dimse: /(?<=127\.0\.0\.1 )11112\b/g,
};

/** Pastes lines beside a running service, after the ports that they show were replaced by its own. */
function pastedBeside(service: TestService, lines: string, ...surfaces: (keyof typeof documented)[]) {
	const script = surfaces.reduce((replaced, surface) => {
		const port = documented[surface];
		assert.match(replaced, port, `the lines show the port of ${surface}`);
		return replaced.replace(port, String(service.port(surface)));
	}, lines);
	return pasted(script, { DATA_DIR: service.dataDir, DATABASE_URL: service.databaseUrl });
}

describe('the guides', { skip: without('dcmtk') }, () => {
	test('every line of docs/guides works when all are pasted in their order', async () => {
		await using service = await testService();
		const { output, errors } = await pastedBeside(service, guideLines(), 'fhir', 'hl7', 'mllp', 'dimse');
		const expected = [
			/^site +north$/m,
			/MSA\|AA\|1/,
			/ORU\^R01 +1 +accepted\b/,
			/MSA\|AE\|2/,
			/unsupported-message-type +message type ORM\^O01 is not supported\b/,
			/^[0-9a-f-]{36} +[0-9a-f-]{36} +ignored\b/m,
			/"message_type":"ADT\^A01"/,
			/1\.2\.826\.0\.1\.2/,
			/unreachable/,
			/^taken +1\nknown +0\nrefused +0\nskipped +0$/m,
			/^taken +2\nknown +0\nrefused +0\n/m,
		];
		for (const pattern of expected) assert.match(output, pattern, `${output}\n${errors}`);
		// Programs of DCMTK and the command line tell of trouble there; what is sent and asked succeeds.
		assert.doesNotMatch(errors, /tributary: |npm error|F: |E: /, errors);
		for (const kind of ['Echo', 'Store']) assert.match(errors, new RegExp(`Received ${kind} Response \\(Success\\)`));
	});
});

describe('README.md', () => {
	test('every line of the first message works when all are pasted in one go', async () => {
		await using service = await testService();
		const { output, errors } = await pastedBeside(service, firstMessageLines(), 'fhir', 'hl7', 'mpps', 'mllp');
		assert.equal(errors, '');
		const expected = [
			/"message_type":"ADT\^A01"/,
			/"resourceType":"Bundle"[^\n]*"value":"4711"/,
			/MSA\|AA\|2/,
			/"value":"4712"/,
			/"success":true,"session_id"/,
			/1\.2\.826\.0\.1\.2\b[^\n]*IN PROGRESS|IN PROGRESS[^\n]*1\.2\.826\.0\.1\.2\b/,
			/"00081199"/,
			/"resourceType":"DiagnosticReport"[^\n]*"resourceType":"ImagingStudy"/,
		];
		for (const pattern of expected) assert.match(output, pattern);
	});
});
