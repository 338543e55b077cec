import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { commonTexts, compactText, wholeText } from '#record/compact-text.ts';

const observation = JSON.stringify({
	status: 'final',
	category: [
		{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory', display: 'Laboratory' }] },
	],
	code: { coding: [{ system: 'http://loinc.org', code: '718-7' }], text: 'Hemoglobin, 100 % of 12%$s %5$s %%' },
	subject: { reference: 'Patient/01a20482-cb16-7000-a277-3af1e4ca9bc9' },
	effectiveDateTime: '2026-01-15T09:55:00+00:00',
});

describe('a compact text', () => {
	test('is shorter and gives the same text back, with per cent signs of its own', () => {
		const compact = compactText(observation);
		assert.ok(compact.length < observation.length * 0.7, compact);
		assert.match(compact, /^%/);
		assert.equal(wholeText(compact), observation);
	});

	test('keeps references to patients in one piece, since a merge replaces them as they are stored', () => {
		assert.ok(compactText(observation).includes('"Patient/01a20482-cb16-7000-a277-3af1e4ca9bc9"'));
		assert.ok(commonTexts.every((piece) => !piece.includes('Patient/')));
	});

	test('names pieces that databases know at these places', () => {
		// A database has the list of the migration that it ran. A longer list needs a migration that makes `tributary_whole_text` anew, and may then
		// stand here; what is in the list already stays as it is, because stored texts name it.
		const known = { pieces: 73, digest: 'be71db92e3d9e42cde244167ff84c85855eceadb545b740205069a93afc371d5' };
		assert.deepEqual({ pieces: commonTexts.length, digest: hash('sha256', commonTexts.join('\n')) }, known);
	});

	test('is made only where it saves something, and only of an object', () => {
		for (const text of ['{}', 'null', '{"text":"100 %"}', `{"text":"${'%'.repeat(100)}"}`]) assert.equal(compactText(text), text);
		assert.equal(wholeText('{"text":"%1$s"}'), '{"text":"%1$s"}');
	});

	test('gives back every text that is made of such pieces and others', () => {
		const piece = fc.oneof(fc.constantFrom(...commonTexts), fc.string(), fc.constantFrom('%', '%%', '%1$s', '$s', '1'));
		fc.assert(
			fc.property(fc.array(piece), (parts) => {
				const text = `{${parts.join('')}}`;
				assert.equal(wholeText(compactText(text)), text);
			}),
		);
	});
});
