import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { setClient } from '#administration/clients.ts';
import { listFeeds, sitesOfSilentFeeds } from '#administration/feeds/list-feeds.ts';
import { setPaused } from '#administration/feeds/pause-feed.ts';
import type { FeedRecord } from '#administration/feeds/records.ts';
import { findFeed, showFeed } from '#administration/feeds/show-feed.ts';
import { listAlerts } from '#administration/notifications.ts';
import { setSite } from '#administration/sites.ts';
import { adt } from '#test/support/adt.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { without } from '#test/support/needs.ts';
import { promtool } from '#test/support/promtool.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { ctInstance, StorageScu } from '#test/support/storage-scu.ts';

/** A node of two processes: its figures are those of both, and come from the database. */
describe('feeds', () => {
	let service: TestService;
	let key: string;
	let southern: string;
	let client: string;

	before(async () => {
		// The client and the key of the first site have metrics of their own.
		service = await testService({ PROCESSES: '2', FEED_METRICS_MAX: '2' });
		({ key } = await service.addSite('north', { protocols: ['hl7-mllp', 'dicom'], sending_application: 'ADT' }));
		({ key: southern } = await service.addSite('south', { allowed_ips: ['127.0.0.2'] }));
		await setSite(service.administration, { slug: 'north', ae_title: 'NORTH' });
		const [row] = await service.rows<{ id: string }>(
			"select c.id from integration_client c join site s on s.id = c.site_id where s.slug = 'north'",
		);
		client = row?.id ?? '';
	});

	after(() => service[Symbol.asyncDispose]());

	const visible = (sites: 'all' | string[]) => ({ ...service.administration, visibleSites: sites });
	const feed = async (id: string): Promise<FeedRecord> => {
		const found = (await listFeeds(visible('all'))).find((one) => one.id === id);
		assert.ok(found, `the feed ${id}`);
		return found;
	};
	const feedOfKey = async () => {
		const found = (await listFeeds(visible(['north']))).find(({ kind }) => kind === 'key');
		assert.ok(found);
		return found;
	};
	const post = (controlId: string, event = 'A08', by = key) =>
		fetch(`http://127.0.0.1:${service.port('hl7')}/v2/ingest`, {
			method: 'POST',
			headers: { 'X-API-Key': by, 'Content-Type': 'text/plain' },
			body: adt(controlId, 'FEED', 1, event),
		});
	const from = (application: string, message: string) => message.replace('|ADT|', `|${application}|`);

	test('have what both processes received and refused, by client and by key, with the time that acknowledgements took', async () => {
		assert.equal((await feed(client)).state, 'unheard');
		const senders = await Promise.all(Array.from({ length: 6 }, () => MllpClient.connect(service.port('mllp'))));
		const answers = await Promise.all(senders.map((sender, index) => sender.send(adt(`feed-${index}`, 'FEED', index))));
		assert.deepEqual(new Set(answers.map((answer) => msa(answer).code)), new Set(['AA']));
		for (const sender of senders) sender.close();
		assert.equal((await post('key-1')).status, 200);
		assert.equal((await post('key-2', 'A28')).status, 422);
		await eventually(
			async () => (await feed(client)).received === 6 && (await feedOfKey()).received === 2,
			'the figures of both processes',
		);
		const { refused, p99_ms, last_heard, state, hours } = await feed(client);
		assert.deepEqual(
			{ refused, state, shown: hours.length, now: hours.at(-1)?.received },
			{ refused: 0, state: 'connected', shown: 24, now: 6 },
		);
		assert.ok((p99_ms ?? 0) > 0);
		assert.ok(Date.parse(last_heard ?? '') > Date.now() - 60_000);
		await eventually(async () => (await feed(client)).queued === 0, 'an empty queue');
		assert.equal((await feedOfKey()).refused, 1);
		assert.equal((await feedOfKey()).state, 'failing');
	});

	test('keep the hour when the node starts again; one that has fallen silent raises an alert of its site', async () => {
		await setClient(service.administration, { id: client, silent_after: '10m' });
		await service.rows("update feed_hour set last_at = last_at - interval '20 minutes' where feed = $1", [client]);
		await service.restart();
		const silent = await feed(client);
		assert.deepEqual([silent.received, silent.state, silent.alert], [6, 'silent', 'TributaryFeedSilent']);
		await eventually(async () => {
			const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
			return /^tributary_silent_feeds\{site="north"\} 1$/m.test(metrics);
		}, 'the gauge of silent feeds');
		await eventually(
			async () =>
				(await listAlerts(visible('all'), { ended: false })).some(({ name, site }) => name === 'TributaryFeedSilent' && site === 'north'),
			'the alert',
		);
		await setClient(service.administration, { id: client, silent_after: '' });
	});

	test('of both processes are one set of metrics, which promtool has nothing against; the time of the latest message outlives a restart', {
		skip: without('promtool'),
	}, async () => {
		const exposed = async () => (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		const [stored] = await service.rows<{ at: string }>(
			"select extract(epoch from max(last_at)) as at from feed_hour h join site s on s.id = h.site_id where s.slug = 'north'",
		);
		await eventually(async () => {
			const [, seconds] = /^tributary_site_last_message_timestamp_seconds\{site="north"\} (\S+)$/m.exec(await exposed()) ?? [];
			return seconds !== undefined && Math.abs(Number(seconds) - Number(stored?.at)) < 0.001;
		}, 'the time of the latest message of before the start');
		const text = await exposed();
		assert.match(text, /^nodejs_eventloop_lag_p99_seconds\{process="1"\} /m);
		assert.deepEqual(promtool(['check', 'metrics'], text), { code: 0, text: '' });
	});

	test('have metrics of their own up to FEED_METRICS_MAX, and those beyond it are counted by site', async () => {
		assert.equal((await post('south-1', 'A08', southern)).status, 200);
		const counted = async () => {
			const text = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
			return [...text.matchAll(/^tributary_feed_messages_total\{(.*)\} (\d+)$/gm)].map(([, labels = '', count]) => {
				const of = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
				return { site: of('site'), feed: of('feed'), outcome: of('outcome'), count: Number(count) };
			});
		};
		await eventually(
			async () =>
				(await counted()).some(
					({ site, feed: id, outcome, count }) => site === 'south' && id === 'other' && outcome === 'taken' && count === 1,
				),
			'the message of the south',
		);
		const feeds = new Set((await counted()).map(({ site, feed: id }) => `${site} ${id}`));
		assert.deepEqual(feeds, new Set([`north ${client}`, `north ${(await feedOfKey()).id}`, 'north other', 'south other']));
	});

	test('fall silent by their history where nobody has set a time; one that is shown alone has the same figures', async () => {
		await service.rows(
			`insert into feed_hour (site_id, feed, hour, received, refused, last_at, received_by_minute, refused_by_minute, acknowledged)
			select c.site_id, c.id::text, h.hour, 60, 0, h.hour, array_fill(1, array[60]), array_fill(0, array[60]), array_fill(0, array[15])
			from integration_client c, generate_series(1, 4) w, generate_series(-1, 1) n,
				lateral (select date_trunc('hour', now(), 'UTC') - w * interval '7 days' + n * interval '1 hour' as hour) h
			where c.id = $1::uuid`,
			[client],
		);
		const { state, silent_after_minutes, silent_by, ...shown } = await feed(client);
		assert.deepEqual({ state, silent_after_minutes, silent_by }, { state: 'silent', silent_after_minutes: 5, silent_by: 'history' });
		const { administration } = service;
		assert.deepEqual(await sitesOfSilentFeeds(administration), ['north']);
		const found = await findFeed(visible(['north']), { id: client });
		assert.deepEqual(found, { site: 'north', found: { state, silent_after_minutes, silent_by, ...shown } });
		assert.equal(await findFeed(visible(['south']), { id: client }), null);
		await service.rows("delete from feed_hour where feed = $1 and hour < now() - interval '6 days'", [client]);
	});

	test('show what matches nobody as a feed: of the only site with the address, else of no site', async () => {
		const sender = await MllpClient.connect(service.port('mllp'));
		assert.equal(msa(await sender.send(from('STRANGER', adt('stranger', 'FEED', 1)))).code, 'AE');
		sender.close();
		await eventually(async () => (await listFeeds(visible(['north']))).some(({ id }) => id === 'north:unmatched'), 'the feed');
		const { refused, kind, state } = await feed('north:unmatched');
		assert.deepEqual({ refused, kind, state }, { refused: 1, kind: 'unmatched', state: 'failing' });
		assert.equal((await findFeed(visible(['north']), { id: 'north:unmatched' }))?.found.kind, 'unmatched');
		assert.deepEqual(
			(await listFeeds(visible(['south']))).filter(({ site }) => site !== 'south'),
			[],
		);
	});

	test('that are paused take nothing over MLLP, and what waited is taken when they resume; another client goes on', async () => {
		await setPaused(service.administration, { id: client, paused: true });
		assert.equal((await feed(client)).state, 'paused');
		const settings = (await showFeed(visible(['north']), await feed(client))).settings ?? {};
		assert.deepEqual(settings['paused'], { value: true, from: 'client' });
		assert.deepEqual(settings['report_writes'], { value: false, from: 'default' });
		assert.deepEqual(settings['message_retention_days'], { value: null, from: 'environment' });
		const ofKey = (await showFeed(visible(['north']), await feedOfKey())).settings ?? {};
		assert.deepEqual(ofKey['paused'], { value: false, from: 'default' });
		assert.equal((await showFeed(visible(['north']), await feed('north:unmatched'))).settings, null);
		const sender = await MllpClient.connect(service.port('mllp'));
		const held = sender.send(adt('held', 'FEED', 7));
		let isAnswered = false;
		void held.then(() => {
			isAnswered = true;
		});
		const other = await MllpClient.connect(service.port('mllp'), '127.0.0.2');
		assert.equal(msa(await other.send(adt('other', 'FEED', 8))).code, 'AA');
		other.close();
		assert.equal(isAnswered, false);
		assert.deepEqual(await service.rows("select from message_log where control_id = 'held'"), []);
		await setPaused(service.administration, { id: client, paused: false });
		assert.equal(msa(await held).code, 'AA');
		sender.close();
	});

	test('that are paused refuse images with a status that modalities repeat, and answer HTTP 503 with Retry-After', async () => {
		const image = ctInstance({ sopInstanceUid: '1.2.826.0.1.9.1', studyUid: '1.2.826.0.1.9', patientId: 'FEED' });
		const scu = await StorageScu.open(service.port('dimse'), { called: 'NORTH' });
		await setPaused(service.administration, { id: client, paused: true, reason: 'new archive' });
		const own = await feedOfKey();
		await setPaused(service.administration, { id: own.id, paused: true });
		await eventually(async () => (await scu.store(image)).status === 0xa700, 'the pause');
		const refused = await post('paused');
		assert.equal(refused.status, 503);
		assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
		assert.equal((await service.fhir('/fhir/Patient', key)).status, 200, 'reading goes on');
		await setPaused(service.administration, { id: own.id, paused: false });
		await setPaused(service.administration, { id: client, paused: false });
		assert.equal((await post('resumed')).status, 200);
		await eventually(async () => (await scu.store(image)).status === 0, 'the end of the pause');
		await scu.release();
		const events = await service.rows<{ detail: { after: { reason?: string } } }>(
			"select detail from audit_event where action = 'client.pause' order by id",
		);
		assert.deepEqual(
			events.map(({ detail }) => detail.after.reason),
			[undefined, 'new archive'],
		);
	});

	test('that are paused start no import; one that was accepted before is carried out, and can be followed', async () => {
		const bulk = new BulkClient(service, key);
		const lines = Array.from({ length: 200 }, (_, index) => ({ resourceType: 'Patient', id: `paused-${index}` }));
		const imported = () => service.rows<{ n: number }>("select count(*)::integer as n from patient where given_id like 'paused-%'");
		const { id } = await feedOfKey();
		const holder = new pg.Client({ connectionString: service.databaseUrl });
		await holder.connect();
		await holder.query('begin');
		await holder.query("select from site_turn t join site s on s.id = t.site_id where s.slug = 'north' for update of t");
		const begun = await bulk.startImport(lines);
		await setPaused(service.administration, { id, paused: true });
		const refused = await bulk.call('POST', '/$import', { 'Content-Type': 'application/fhir+ndjson' }, '{"resourceType":"Patient"}\n');
		assert.equal(refused.status, 503);
		assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
		const [{ code, diagnostics }] = JSON.parse(refused.text).issue;
		assert.deepEqual([code, diagnostics], ['transient', 'this sender is paused; send it again later']);
		await eventually(async () => {
			const metrics = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
			return /^tributary_http_requests_total\{surface="fhir",route="[^"]*\/\$import",status="5xx"\} 1$/m.test(metrics);
		}, 'the refusal is counted');
		assert.equal((await bulk.call('GET', begun)).status, 202);
		assert.deepEqual(await imported(), [{ n: 0 }]);
		await holder.query('rollback');
		await holder.end();
		const manifest = await bulk.manifest(begun);
		assert.deepEqual([manifest.output[0].count, manifest.error], [200, []]);
		assert.deepEqual(await imported(), [{ n: 200 }]);
		await setPaused(service.administration, { id, paused: false });
		assert.equal((await bulk.manifest(await bulk.startImport(lines.slice(0, 1)))).output[0].extension.unchanged, 1);
		const jobs = await service.rows("select from bulk_job b join site s on s.id = b.site_id where s.slug = 'north' and b.kind = 'import'");
		assert.equal(jobs.length, 2, 'what was refused has left no job');
	});
});
