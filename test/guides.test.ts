import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { without } from './support/needs.ts';
import { linesOf, pastedBeside } from './support/pasted-lines.ts';
import { testService } from './support/service.ts';

/** The lines of the guides, in the order of their list. */
function guideLines(): string {
	const folder = new URL('../docs/guides/', import.meta.url);
	const order = [...readFileSync(new URL('README.md', folder), 'utf8').matchAll(/^\d\. \[.*\]\((\S+)\)$/gm)].map(([, name = '']) => name);
	assert.equal(order.length, readdirSync(folder).length - 1, 'the list names each guide');
	return order.map((name) => linesOf(readFileSync(new URL(name, folder), 'utf8'))).join('');
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
