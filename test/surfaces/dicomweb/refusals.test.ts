import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { element, sampleDataSet, sequence } from '#test/support/data-set.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { type DicomWebClient, dicomWebClient, file } from './client.ts';

let service: TestService;
let client: DicomWebClient;

before(async () => {
	service = await testService();
	client = dicomWebClient(service, (await service.addSite('west')).key);
});

after(() => service[Symbol.asyncDispose]());

const instance = '/studies/9.1/series/9.1.1/instances/9.1.1.1';
const identity = { studyUid: '9.1', seriesUid: '9.1.1', sopInstanceUid: '9.1.1.1' };

/** Sequences in one another, so many deep. */
function nested(depth: number): Buffer {
	let inner = element(0x0008_1155, 'UI', '9.9');
	for (let level = 0; level < depth; level++) inner = sequence(0x0040_a730, [inner]);
	return inner;
}

describe('what is refused, and why', () => {
	test('an element that the instance has not is no instance that there is not', async () => {
		assert.equal((await client.store([file(identity, undefined, sampleDataSet(identity))])).status, 200);
		const of = async (path: string) => {
			const answer = await client.get(path);
			return [answer.status, answer.json().error];
		};
		for (const path of ['00099999', '00081140.9.00081155', 'nonsense'])
			assert.deepEqual(await of(`${instance}/bulkdata/${path}`), [404, 'the instance has no such element'], path);
		for (const path of ['00099999', 'nonsense'])
			assert.deepEqual(await of(`${instance}.9/bulkdata/${path}`), [404, 'no instance has these UIDs'], path);
	});

	test('metadata of sequences that lie too deep is not called too long', async () => {
		const head = sampleDataSet({ ...identity, studyUid: '9.2', sopInstanceUid: '9.2.1.1' });
		const deep = Buffer.concat([head.subarray(0, -76), nested(40)]);
		const stored = await client.store([file({ sopInstanceUid: '9.2.1.1' }, undefined, deep)]);
		assert.equal(stored.status, 200, stored.bytes.toString());
		const answer = await client.get('/studies/9.2/metadata');
		assert.equal(answer.status, 406);
		assert.match(answer.json().error, /sequences lie too deep in one another; it can be retrieved whole$/);
		assert.equal((await client.get('/studies/9.2')).status, 200);
	});
});
