import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setSite } from '#administration/sites.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { type FhirCall, fhirClient } from '#test/support/fhir-client.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { type FhirBody, type TestService, testService } from '#test/support/service.ts';

/** Two patients of one person. Every case has numbers of its own, so that all share a site. */
interface Pair {
	/** The numbers, which are the FHIR ids, too. */
	old: string;
	survivor: string;
	procedure(patient: string, text: string): object;
}

const system = 'urn:oid:1.2.3';

describe('FHIR after a merge', () => {
	let service: TestService;
	let call: FhirCall;
	let mllp: MllpClient;
	let bulk: BulkClient;
	let cases = 0;

	before(async () => {
		service = await testService();
		const { key } = await service.addSite('west', { also: ['A37'] });
		call = fhirClient(service, key);
		bulk = new BulkClient(service, key);
		mllp = await MllpClient.connect(service.port('mllp'));
	});

	after(async () => {
		mllp.close();
		await service[Symbol.asyncDispose]();
	});

	async function answered(event: string, ...segments: string[]): Promise<string> {
		return mllp.send([`MSH|^~\\&|ADT|HOSP|X|Y|20240101||${event}|${++cases}|P|2.5.1`, 'EVN||20240101', ...segments].join('\r'));
	}

	async function send(event: string, ...segments: string[]): Promise<void> {
		const answer = await answered(event, ...segments);
		assert.equal(msa(answer).code, 'AA', answer);
	}

	const pid = (value: string) => `PID|1||${value}^^^&1.2.3&ISO`;
	const merge = ({ survivor, old }: Pick<Pair, 'survivor' | 'old'>) => send('ADT^A40', pid(survivor), `MRG|${old}^^^&1.2.3&ISO`);
	const unlink = ({ survivor, old }: Pick<Pair, 'survivor' | 'old'>) => send('ADT^A37', pid(survivor), pid(old).replace('PID|1', 'PID|2'));

	async function pair(): Promise<Pair> {
		const number = ++cases;
		const [old, survivor] = [`old-${number}`, `new-${number}`];
		for (const value of [old, survivor]) {
			const patient = { resourceType: 'Patient', id: value, identifier: [{ system, value }], name: [{ family: 'Rivers', given: [value] }] };
			assert.equal((await call('PUT', `/Patient/${value}`, patient)).status, 201);
		}
		const procedure = (patient: string, text: string) => ({
			resourceType: 'Procedure',
			status: 'completed',
			subject: { reference: `Patient/${patient}` },
			code: { text },
		});
		return { old, survivor, procedure };
	}

	const totalOf = async (path: string) => (await call('GET', path)).body.total;
	const patientOf = async (path: string) => {
		const { body } = await call('GET', path);
		return body.subject.reference;
	};

	test('an unlink whose numbers name several merges is refused, and one that names a single merge undoes that one', async () => {
		const number = ++cases;
		const shared = { system, value: `shared-${number}` };
		const ids = ['survivor', 'one', 'two'].map((name) => `${name}-${number}`);
		for (const id of ids) {
			const identifier = [{ system, value: id }, ...(id.startsWith('survivor') ? [] : [shared])];
			const patient = { resourceType: 'Patient', id, identifier, name: [{ family: 'Rivers', given: ['Ada'] }] };
			assert.equal((await call('PUT', `/Patient/${id}`, patient)).status, 201);
		}
		const [survivor = '', one = '', two = ''] = ids;
		await merge({ survivor, old: one });
		await merge({ survivor, old: two });
		const isActive = async () => Promise.all([one, two].map(async (id) => (await call('GET', `/Patient/${id}`)).body.active));
		const merged = await isActive();
		const unclear = await answered('ADT^A37', pid(survivor), pid(shared.value).replace('PID|1', 'PID|2'));
		assert.equal(msa(unclear).code, 'AE');
		assert.match(unclear, /\rERR\|\|PID\^1\^3\|205/);
		assert.deepEqual(await isActive(), merged);
		await unlink({ survivor, old: two });
		assert.deepEqual(
			[merged, await isActive()],
			[
				[false, false],
				[false, true],
			],
		);
	});

	test('what is recorded for the old id is recorded for the survivor, and an unmerge gives it back', async () => {
		const them = await pair();
		const { old, survivor, procedure } = them;
		await merge(them);
		const created = await call('POST', '/Procedure', procedure(old, 'Penicillin'));
		assert.equal(created.status, 201);
		assert.equal(created.body.subject.reference, `Patient/${survivor}`);
		const named = await call('PUT', `/Procedure/named-${old}`, procedure(`${old}/_history/1`, 'Latex'));
		assert.equal(named.body.subject.reference, `Patient/${survivor}`);
		const bundle = (type: string) => ({
			resourceType: 'Bundle',
			type,
			entry: [{ resource: procedure(old, type), request: { method: 'POST', url: 'Procedure' } }],
		});
		for (const type of ['transaction', 'batch']) assert.equal((await call('POST', '/', bundle(type))).status, 200);
		const condition = { 'If-None-Exist': `patient=Patient/${old}&status=stopped` };
		const conditional = { ...procedure(old, 'Bee'), status: 'stopped' };
		assert.equal((await call('POST', '/Procedure', conditional, condition)).status, 201);
		assert.equal((await call('POST', '/Procedure', conditional, condition)).status, 200);
		const { output } = await bulk.manifest(
			await bulk.startImport([procedure(old, 'Import'), { ...procedure(old, 'Known'), id: `named-${old}` }]),
		);
		assert.deepEqual(
			output.map(({ count }: FhirBody) => count),
			[2],
			JSON.stringify(output),
		);
		for (const parameter of [
			`patient=${survivor}`,
			`patient=Patient/${old}`,
			`patient=${old},nobody`,
			`patient.identifier=${old}`,
			`patient.given=${old}`,
		]) {
			assert.equal(await totalOf(`/Procedure?${parameter}`), 6, parameter);
		}
		assert.equal(await totalOf(`/Patient/${survivor}/$everything`), 7);
		assert.equal(await totalOf(`/Patient/${old}/$everything`), 7);
		const path = `/Procedure/${created.body.id}`;
		const patched = await call('PATCH', path, [{ op: 'replace', path: '/subject/reference', value: `Patient/${old}` }]);
		assert.equal(patched.body.subject.reference, `Patient/${survivor}`);
		await unlink(them);
		assert.equal(await totalOf(`/Procedure?patient=${survivor}`), 0);
		assert.equal(await totalOf(`/Procedure?patient=${old}`), 6);
		assert.equal(await patientOf(path), `Patient/${old}`);
	});

	test('a copy from before the merge does not move a resource back', async () => {
		const them = await pair();
		const { old, survivor } = them;
		const observation = {
			resourceType: 'Observation',
			id: `o-${old}`,
			status: 'final',
			code: { text: 'x' },
			subject: { reference: `Patient/${old}` },
		};
		await call('PUT', `/Observation/${observation.id}`, observation);
		await merge(them);
		const amended = await call('PUT', `/Observation/${observation.id}`, { ...observation, status: 'amended' });
		assert.equal(amended.status, 200);
		assert.equal(amended.body.subject.reference, `Patient/${survivor}`);
		assert.equal(amended.body.meta.versionId, '3');
		const again = await call('PUT', `/Observation/${observation.id}`, { ...observation, status: 'amended' });
		assert.equal(again.body.meta.versionId, '3', 'the same content is no new version');
		await unlink(them);
		assert.equal(await patientOf(`/Observation/${observation.id}`), `Patient/${old}`);
	});

	test('a chain of merges is followed to its end', async () => {
		const [first, second] = [await pair(), await pair()];
		await merge(first);
		await merge({ ...first, old: first.survivor, survivor: second.survivor });
		const created = await call('POST', '/Procedure', first.procedure(first.old, 'Chain'));
		assert.equal(created.body.subject.reference, `Patient/${second.survivor}`);
		for (const id of [first.old, first.survivor, second.survivor]) {
			assert.equal(await totalOf(`/Procedure?patient=${id}`), 1, id);
			assert.equal(await totalOf(`/Patient/${id}/$everything`), 2, id);
		}
	});

	test('the replaced patient is no longer written, and the answer names the survivor', async () => {
		const them = await pair();
		const { old, survivor } = them;
		const before = (await call('GET', `/Patient/${old}`)).body;
		await merge(them);
		const written = await call('PUT', `/Patient/${old}`, { ...before, telecom: [{ system: 'phone', value: '1' }] });
		const patched = await call('PATCH', `/Patient/${old}`, [{ op: 'add', path: '/gender', value: 'female' }]);
		const entry = [{ resource: before, request: { method: 'PUT', url: `Patient/${old}` } }];
		const together = await call('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry });
		for (const { status, text } of [written, patched, together]) {
			assert.equal(status, 409);
			assert.match(text, new RegExp(`Patient/${survivor}\\b`));
		}
		const { body } = await call('GET', `/Patient/${old}`);
		assert.deepEqual([body.active, body.link], [false, [{ other: { reference: `Patient/${survivor}` }, type: 'replaced-by' }]]);
		const { error } = await bulk.manifest(await bulk.startImport([before]));
		assert.equal(error.length, 1);
		await unlink(them);
		assert.equal((await call('PUT', `/Patient/${old}`, before)).status, 200);
	});

	test('the survivor keeps its link whatever a client writes, and a link that a client makes up merges nobody', async () => {
		const them = await pair();
		const { old, survivor, procedure } = them;
		const before = (await call('GET', `/Patient/${survivor}`)).body;
		await merge(them);
		const replaces = { other: { reference: `Patient/${old}` }, type: 'replaces' };
		const own = { other: { reference: 'Patient/elsewhere' }, type: 'seealso' };
		assert.deepEqual((await call('PUT', `/Patient/${survivor}`, { ...before, gender: 'female' })).body.link, [replaces]);
		const removed = await call('PATCH', `/Patient/${survivor}`, [{ op: 'remove', path: '/link' }]);
		assert.deepEqual(removed.body.link, [replaces]);
		const other = await pair();
		await call('PUT', '/Patient/elsewhere', { resourceType: 'Patient', id: 'elsewhere' });
		assert.deepEqual((await call('PUT', `/Patient/${survivor}`, { ...before, link: [own] })).body.link, [own, replaces]);
		const made = { other: { reference: `Patient/${other.survivor}` }, type: 'replaced-by' };
		const copy = (await call('GET', `/Patient/${other.old}`)).body;
		assert.equal((await call('PUT', `/Patient/${other.old}`, { ...copy, link: [made] })).status, 200);
		const created = await call('POST', '/Procedure', procedure(other.old, 'x'));
		assert.equal(created.body.subject.reference, `Patient/${other.old}`);
		assert.equal((await call('PUT', `/Patient/${other.old}`, copy)).body.link, undefined);
	});

	test('a condition by the old number means the survivor, whose own numbers stay', async () => {
		const them = await pair();
		const { old, survivor } = them;
		await merge(them);
		const patient = { resourceType: 'Patient', identifier: [{ system, value: old }], name: [{ family: 'Changed' }] };
		const found = await call('POST', '/Patient', patient, { 'If-None-Exist': `identifier=${system}|${old}` });
		assert.deepEqual([found.status, found.body.id], [200, survivor]);
		const updated = await call('PUT', `/Patient?identifier=${system}|${old}`, patient);
		assert.deepEqual([updated.status, updated.body.id, updated.body.name[0].family], [200, survivor, 'Changed']);
		assert.deepEqual(
			updated.body.identifier.map(({ value }: FhirBody) => value),
			[survivor, old],
		);
		const entry = [
			{
				resource: {
					resourceType: 'Procedure',
					status: 'completed',
					subject: { reference: `Patient?identifier=${system}|${old}` },
					code: { text: 'x' },
				},
				request: { method: 'POST', url: 'Procedure' },
			},
		];
		assert.equal((await call('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry })).status, 200);
		assert.equal(await totalOf(`/Procedure?patient=${survivor}`), 1);
		const another = {
			...patient,
			identifier: [
				{ system, value: `${old}-x` },
				{ system, value: old },
			],
		};
		assert.equal((await call('PUT', `/Patient/another-${old}`, another)).status, 201);
		assert.equal((await call('PUT', `/Patient?identifier=${system}|${old}`, patient)).status, 412, 'two people have the number');
	});

	test('a site may refuse what refers to a merged patient; the answer names the survivor', async () => {
		const them = await pair();
		const { old, survivor, procedure } = them;
		await merge(them);
		await setSite(service.administration, { slug: 'west', merged_references: 'refuse' });
		try {
			const refused = await call('POST', '/Procedure', procedure(old, 'x'));
			assert.equal(refused.status, 409);
			assert.match(refused.text, new RegExp(`Patient/${survivor}\\b`));
			assert.deepEqual(refused.body.issue[0].expression, ['Procedure.subject.reference']);
			assert.equal((await call('POST', '/Procedure', procedure(survivor, 'x'))).status, 201);
			const { output, error } = await bulk.manifest(await bulk.startImport([procedure(old, 'x')]));
			assert.deepEqual([output.length, error.length], [0, 1]);
			assert.equal(await totalOf(`/Procedure?patient=${old}`), 1, 'a search follows');
		} finally {
			await setSite(service.administration, { slug: 'west', merged_references: 'follow' });
		}
		assert.equal((await call('POST', '/Procedure', procedure(old, 'x'))).status, 201);
	});
});
