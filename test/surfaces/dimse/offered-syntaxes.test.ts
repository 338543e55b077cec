import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
	explicitBigEndian as big,
	deflatedExplicitLittleEndian as deflated,
	explicitLittleEndian as explicit,
	implicitLittleEndian as implicit,
} from '#dicom/transfer-syntax.ts';
import { contextFor, offeredContexts } from '#surfaces/dimse/offered-syntaxes.ts';

const jpeg = '1.2.840.10008.1.2.4.70';
const offered = (...kinds: [sopClassUid: string, transferSyntaxUid: string][]) =>
	offeredContexts(kinds.map(([sopClassUid, transferSyntaxUid]) => ({ sopClassUid, transferSyntaxUid }))).map(
		({ abstractSyntax, transferSyntaxes }) => [abstractSyntax, ...transferSyntaxes],
	);

describe('the presentation contexts of a C-MOVE', () => {
	test('offer what is stored by itself, and beside an uncompressed one the default transfer syntax', () => {
		assert.deepEqual(offered(['1', explicit]), [
			['1', explicit],
			['1', implicit],
		]);
		assert.deepEqual(offered(['1', implicit]), [['1', implicit]]);
		assert.deepEqual(offered(['1', big], ['1', deflated], ['1', jpeg], ['2', jpeg]), [
			['1', big],
			['1', explicit, implicit],
			['1', deflated],
			['1', jpeg],
			['2', jpeg],
		]);
	});

	test('are 128 at most, never one without its default', () => {
		const kinds = Array.from({ length: 200 }, (_, index): [string, string] => [String(index), index === 0 ? jpeg : explicit]);
		const contexts = offered(...kinds);
		assert.equal(contexts.length, 127);
		assert.deepEqual(contexts.slice(-2), [
			['63', explicit],
			['63', implicit],
		]);
	});
});

describe('an instance goes over the context', () => {
	const cases: [stored: string, accepted: string[], chosen: string | undefined][] = [
		[implicit, [explicit, implicit], implicit],
		[big, [implicit, explicit], explicit],
		[explicit, [jpeg, implicit], implicit],
		[deflated, [big], big],
		[jpeg, [explicit, implicit], undefined],
		[explicit, [jpeg], undefined],
		['1.2.840.113619.5.2', [implicit], undefined],
	];
	for (const [stored, accepted, chosen] of cases) {
		test(`${stored} over one of ${accepted.join(', ')}`, () => {
			const contexts = accepted.map((transferSyntax) => ({ transferSyntax }));
			assert.equal(contextFor(stored, contexts)?.transferSyntax, chosen);
		});
	}
});
