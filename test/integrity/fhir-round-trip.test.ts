import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { type JsonObject, parseExact } from '#core/json.ts';
import { resources } from '#fhir/resources/index.ts';
import { fhirClient } from '#test/support/fhir-client.ts';
import { type GeneratedType, generatedTypes, resourceOf } from '#test/support/fhir-generators.ts';
import { fc, runs } from '#test/support/fuzzing.ts';
import { eventually, testService } from '#test/support/service.ts';

const writable = generatedTypes.filter((type) => resources[type].interactions.includes('create'));

function content(text: string): string {
	const { id: _id, meta: _meta, ...rest } = parseExact(text);
	return JSON.stringify(rest);
}

describe('what a client sends comes back', () => {
	test('any valid resource, element for element and digit for digit, after create, update and restart', async () => {
		await using service = await testService();
		const call = fhirClient(service, (await service.addSite('west')).key);
		// What is generated refers to patients of any id.
		await setSite(service.administration, { slug: 'west', check_references: false, report_writes: true });
		const dangling = { resourceType: 'Patient', link: [{ other: { reference: 'Patient/none' }, type: 'seealso' }] };
		await eventually(async () => (await call('POST', '/Patient', dangling)).status === 201, 'the relaxed rule');
		const kept = new Map<string, string>();
		const check = async (type: GeneratedType, first: JsonObject, second: JsonObject): Promise<void> => {
			const sent = JSON.stringify(first);
			const created = await call('POST', `/${type}`, sent);
			assert.equal(created.status, 201, `${created.text} of ${sent}`);
			const place = `/${type}/${created.body.id}`;
			assert.equal(content((await call('GET', place)).text), content(sent));
			const next = JSON.stringify(second);
			const updated = await call('PUT', place, next.replace('{', `{"id":"${created.body.id}",`));
			assert.equal(updated.status, 200, updated.text);
			assert.equal(content((await call('GET', place)).text), content(next));
			kept.set(place, content(next));
		};
		for (const type of writable) {
			const resource = resourceOf(type);
			await fc.assert(
				fc.asyncProperty(resource, resource, (first, second) => check(type, first, second)),
				{ numRuns: runs(25) },
			);
		}
		await service.restart();
		for (const [place, text] of kept) assert.equal(content((await call('GET', place)).text), text);
	});
});
