import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { OperationContext } from '#administration/context.ts';
import { openInViewer } from '#administration/images/viewer.ts';
import { setSite, setSiteInput } from '#administration/sites.ts';
import { eventually } from '#test/support/eventually.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { dicomWebClient, file } from './client.ts';

const origin = 'https://viewer.example.org';
const viewer = `${origin}/viewer?StudyInstanceUIDs={study}&token={token}`;
const image = (studyUid: string) => ({ studyUid, seriesUid: `${studyUid}.1`, sopInstanceUid: `${studyUid}.1.1` });

describe('the viewer of a site', () => {
	let service: TestService;
	let ann: OperationContext;
	before(async () => {
		service = await testService();
		const { key } = await service.addSite('north');
		await service.addSite('south');
		ann = { ...service.administration, actor: { name: 'owner@example.org', role: 'administrator', sites: 'all' } };
		const files = ['1.2.3', '1.2.4'].map((study) => file(image(study)));
		assert.equal((await dicomWebClient(service, key).store(files)).status, 200);
	});
	after(() => service[Symbol.asyncDispose]());

	const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
		fetch(`http://127.0.0.1:${service.port('fhir')}/${path}`, { method, headers });
	const linked = async (study = '1.2.3') => {
		const { url, expires_at: expiresAt } = await openInViewer(ann, { site: 'north', study });
		const parameters = new URL(url).searchParams;
		return { url, expiresAt, studies: parameters.get('StudyInstanceUIDs'), bearer: `Bearer ${parameters.get('token')}` };
	};

	test('is set by its address, which names the study', async () => {
		const faults = (text: string) => String(setSiteInput.safeParse({ slug: 'north', viewer_url: text }).error);
		assert.match(faults(`${origin}/`), /has \{study\} where the Study Instance UID goes/);
		assert.match(faults('javascript:{study}'), /begins with https/);
		assert.equal(faults(viewer), 'undefined');
		await assert.rejects(linked(), /has no viewer: set its viewer_url/);
		await setSite(service.administration, { slug: 'north', viewer_url: viewer, cors_origins: [origin] });
		await assert.rejects(linked('1.2.9'), /no study of the site has this UID/);
		await assert.rejects(openInViewer(ann, { site: 'south', study: '1.2.3' }), /'south' has no viewer/);
	});

	test('reads the study of a link as OHIF does, from its own origin, and nothing else', async () => {
		const { studies, bearer, expiresAt } = await linked();
		assert.equal(studies, '1.2.3');
		assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 3_600_000) < 60_000, expiresAt);
		const asked = { authorization: bearer, origin };
		const statusOf = async (path: string, headers: Record<string, string> = asked) => {
			const answer = await ask(path, headers);
			await answer.arrayBuffer();
			return answer.status;
		};
		const preflight = await ask(
			'dicomweb/studies',
			{ origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
			'OPTIONS',
		);
		assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, origin]);
		const found = await ask('dicomweb/studies?StudyInstanceUID=1.2.3', asked);
		assert.equal(found.headers.get('access-control-allow-origin'), origin);
		assert.deepEqual(
			((await found.json()) as { '0020000D': { Value: string[] } }[]).map((row) => row['0020000D'].Value),
			[['1.2.3']],
		);
		for (const path of ['/series', '/series/1.2.3.1/metadata', '/series/1.2.3.1/instances', '/metadata', ''])
			assert.equal(await statusOf(`dicomweb/studies/1.2.3${path}`), 200, path);
		assert.equal(((await (await ask('dicomweb/studies', asked)).json()) as object[]).length, 1, 'a search without a study finds this one');
		assert.equal(((await (await ask('dicomweb/instances', asked)).json()) as object[]).length, 1);

		for (const path of ['', '/metadata', '/series/1.2.4.1', '/series/1.2.4.1/instances/1.2.4.1.1', '/rendered', '/thumbnail'])
			assert.equal(await statusOf(`dicomweb/studies/1.2.4${path}`), 404, path);
		for (const query of [
			'studies?StudyInstanceUID=1.2.4',
			'studies?StudyInstanceUID=1.2.3,1.2.4',
			'studies/1.2.4/series',
			'studies/1.2.4/instances',
		])
			assert.equal(await statusOf(`dicomweb/${query}`), 403, query);
		assert.equal(await statusOf('fhir/Patient'), 401);
		assert.equal((await ask('dicomweb/studies', asked, 'POST')).status, 401);
	});

	test('is refused with another token, with one that is over, and when the person may not sign in any more', async () => {
		const { bearer } = await linked();
		const statusOf = async (authorization: string, more: Record<string, string> = {}) => {
			const answer = await ask('dicomweb/studies/1.2.3/metadata', { authorization, ...more });
			await answer.arrayBuffer();
			return [answer.status, answer.headers.get('www-authenticate')];
		};
		const refused = [401, 'Bearer error="invalid_token"'];
		assert.deepEqual(await statusOf(`Bearer tv_${'A'.repeat(43)}`), refused);
		assert.deepEqual(await statusOf(bearer, { 'x-api-key': 'both' }), [400, null]);
		await service.rows("update viewer_token set expires_at = now() - interval '1 second'");
		assert.deepEqual(await statusOf(bearer), refused);
		const [first, second] = [await linked(), await linked()];
		assert.deepEqual(await statusOf(first.bearer), [200, null]);
		await service.rows("update app_user set active = false where email = 'owner@example.org'");
		assert.deepEqual(await statusOf(second.bearer), refused);
		assert.equal((await service.rows('select from viewer_token where expires_at < now()')).length, 0, 'those that are over are forgotten');
	});

	test('leaves in the audit trail who opened it, and who read by it', async () => {
		const named = (action: string) =>
			service.rows<{ actor: string }>("select actor from audit_event where subject = '1.2.3' and action = $1", [action]);
		assert.equal((await named('study.viewer'))[0]?.actor, 'owner@example.org');
		// Reads are gathered, and written a little later.
		await eventually(
			async () => (await named('dicomweb.retrieve')).some(({ actor }) => actor === 'owner@example.org'),
			'the record of the reading',
		);
	});
});
