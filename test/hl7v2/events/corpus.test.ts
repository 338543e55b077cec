import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { interpret } from '#hl7v2/interpret.ts';
import { Message } from '#hl7v2/message.ts';
import { corpusFiles, withCarriageReturns } from '#test/support/corpus.ts';
import { without } from '#test/support/needs.ts';
import { plainSettings } from '../reading.ts';

function outcome(bytes: Uint8Array): string {
	try {
		const interpreted = interpret(Message.parse(bytes), { ...plainSettings, processing_ids: ['P', 'T', 'D'] });
		if (interpreted.kind === 'apply') JSON.stringify(interpreted.changeSet);
		return interpreted.kind;
	} catch (error) {
		if (error instanceof Failure) return `${error.code}: ${error.diagnostics}`;
		throw error;
	}
}

const asSent = (bytes: Buffer) => bytes;

describe('messages of public repositories', { skip: without('corpus') }, () => {
	const files = without('corpus') ? [] : corpusFiles('hl7v2');
	for (const [form, transform] of [
		['as they are', asSent],
		['with segments ended by CR', withCarriageReturns],
	] as const) {
		test(`an acceptable message is applied, ${form}`, () => {
			const accepted = files.filter(({ expect }) => expect === 'accept');
			const wrong = accepted
				.map(({ path, bytes }) => ({ path, outcome: outcome(transform(bytes)) }))
				.filter(({ outcome }) => outcome !== 'apply');
			assert.deepEqual(wrong, []);
			assert.ok(accepted.length > 200);
		});
		test(`a message to be refused is refused with a failure, ${form}`, () => {
			const refused = files.filter(({ expect }) => expect === 'reject');
			const wrong = refused.filter(({ bytes }) => outcome(transform(bytes)) === 'apply');
			assert.deepEqual(wrong, []);
			assert.ok(refused.length > 200);
		});
	}
});
