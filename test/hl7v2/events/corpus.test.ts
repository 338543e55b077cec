import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { validateResource } from '#fhir/validation/validate.ts';
import { interpret } from '#hl7v2/interpret.ts';
import { Message } from '#hl7v2/message.ts';
import { isIdentified } from '#record/person-or-place.ts';
import type { Settings } from '#record/settings/settings.ts';
import { corpusFiles, withCarriageReturns } from '#test/support/corpus.ts';
import { MemorySite } from '#test/support/memory-site.ts';
import { without } from '#test/support/needs.ts';
import { plainSettings } from '../reading.ts';

const reading: Settings = { ...plainSettings, processing_ids: ['P', 'T', 'D'] };

function outcome(bytes: Uint8Array): string {
	try {
		const interpreted = interpret(Message.parse(bytes), reading);
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

	test('people, places and orders become valid resources, once', () => {
		let made = 0;
		for (const { path, bytes } of files) {
			const site = new MemorySite();
			const apply = () => {
				const interpreted = interpret(Message.parse(bytes), { ...reading, people_and_places: 'resources' });
				return interpreted.kind === 'apply' ? site.apply(interpreted.changeSet).changed : [];
			};
			try {
				apply();
			} catch (error) {
				assert.ok(error instanceof Failure, path);
				continue;
			}
			for (const resource of site.all()) assert.deepEqual(validateResource(resource), [], path);
			const again = apply().filter(({ resourceType }) => isIdentified(resourceType));
			assert.deepEqual(again, [], path);
			made += site.all().filter(({ resourceType }) => isIdentified(resourceType)).length;
		}
		assert.ok(made > 400, String(made));
	});
});
