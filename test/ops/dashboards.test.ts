import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setClient } from '#administration/clients.ts';
import { adt } from '#test/support/adt.ts';
import { BulkClient } from '#test/support/bulk.ts';
import { CertificateFiles } from '#test/support/certificate-files.ts';
import { freePort } from '#test/support/free-port.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { needs, without } from '#test/support/needs.ts';
import { promtool } from '#test/support/promtool.ts';
import { eventually, type TestService, testService } from '#test/support/service.ts';
import { addImagingSite, ctInstance, StorageScu } from '#test/support/storage-scu.ts';
import { file, multipartBody, multipartType } from '#test/surfaces/dicomweb/client.ts';

const ops = join(import.meta.dirname, '../../ops');
const boards = ['tributary', 'surfaces', 'sites', 'database'];

interface Board {
	title: string;
	panels: { title: string; targets?: { expr: string }[] }[];
}

interface PanelQuery {
	/** The dashboard and the panel. */
	title: string;
	text: string;
}

/** The queries of all panels, for every instance and site. */
function queriesOfPanels(): PanelQuery[] {
	return boards.flatMap((name) => {
		const board = JSON.parse(readFileSync(join(ops, `grafana/${name}.json`), 'utf8')) as Board;
		return board.panels.flatMap(({ title, targets = [] }) =>
			targets.map(({ expr }) => ({
				title: `${name}: ${title}`,
				text: expr.replaceAll('"$instance"', '".*"').replaceAll('"$site"', '".*"').replaceAll('$__rate_interval', '1m'),
			})),
		);
	});
}

/** A Prometheus that scrapes one node every second, with the rules of ops/prometheus. */
class Prometheus {
	readonly #folder = mkdtempSync(join(tmpdir(), 'tributary-prometheus-'));
	#child: ChildProcess | undefined;
	#port = 0;

	async start(target: number): Promise<void> {
		this.#port = await freePort();
		const config = join(this.#folder, 'prometheus.yml');
		const text = readFileSync(join(ops, 'prometheus/prometheus.yml'), 'utf8')
			.replace(/_interval: \d+s/g, '_interval: 1s')
			.replace('127.0.0.1:9464', `127.0.0.1:${target}`)
			.replace('- rules.yml', `- ${join(ops, 'prometheus/rules.yml')}`)
			.replace(/^alerting:[\s\S]*?(?=^\w)/m, '');
		writeFileSync(config, text);
		const parameters = [`--config.file=${config}`, `--storage.tsdb.path=${join(this.#folder, 'data')}`];
		const listen = `--web.listen-address=127.0.0.1:${this.#port}`;
		this.#child = spawn(needs.prometheus.found ?? '', [...parameters, listen], { stdio: 'ignore' });
		await eventually(async () => (await this.scrapes()) > 0, 'the first scrape');
	}

	async get(path: string): Promise<ReturnType<typeof JSON.parse>> {
		const answer = await fetch(`http://127.0.0.1:${this.#port}${path}`);
		const { status, data, error } = (await answer.json()) as { status: string; data: unknown; error?: string };
		assert.equal(status, 'success', error);
		return data;
	}

	/** The series of a query. */
	async query(text: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
		return (await this.get(`/api/v1/query?query=${encodeURIComponent(text)}`)).result;
	}

	/** Those of the queries that have no series. */
	async empty(queries: readonly PanelQuery[]): Promise<PanelQuery[]> {
		const found = await Promise.all(queries.map(({ text }) => this.query(text)));
		return queries.filter((_, index) => found[index]?.length === 0);
	}

	async scrapes(): Promise<number> {
		const [series] = await this.query('count_over_time(tributary_build_info[1h])').catch(() => []);
		return Number(series?.value[1] ?? 0);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const child = this.#child;
		if (child !== undefined && child.exitCode === null) {
			child.kill('SIGKILL');
			await new Promise((resolve) => child.once('close', resolve));
		}
		rmSync(this.#folder, { recursive: true, force: true });
	}
}

/** Something of everything that a node does: taken, refused and unmatched messages, images, reads, an export. */
async function work(service: TestService, { key, called }: { key: string; called: string }): Promise<void> {
	const at = (surface: string, path: string) => `http://127.0.0.1:${service.port(surface)}${path}`;
	const post = async (surface: string, path: string, type: string, body: string | Uint8Array<ArrayBuffer>) => {
		const answer = await fetch(at(surface, path), { method: 'POST', headers: { 'X-API-Key': key, 'Content-Type': type }, body });
		await answer.arrayBuffer();
		return answer.status;
	};
	const sender = await MllpClient.connect(service.port('mllp'));
	assert.equal(msa(await sender.send(adt('1', 'BOARD', 1))).code, 'AA');
	assert.equal(msa(await sender.send(adt('2', 'BOARD', 1, 'A99'))).code, 'AE');
	sender.close();
	const southern = await MllpClient.connect(service.port('mllp'), '127.0.0.2');
	assert.equal(msa(await southern.send(adt('4', 'BOARD', 3))).code, 'AA');
	southern.close();
	assert.equal(await post('hl7', '/v2/ingest', 'text/plain', adt('3', 'BOARD', 2)), 200);
	assert.equal(await post('fhir', '/fhir/Patient', 'application/fhir+json', '{"resourceType":"Patient"}'), 201);
	assert.equal(await post('fhir', '/fhir/Patient', 'application/fhir+json', '{"resourceType":"Patient","birthDate":"x"}'), 400);
	assert.equal((await service.fhir('/fhir/Patient', key)).status, 200);
	assert.equal((await service.fhir('/fhir/Patient', 'none')).status, 401);
	const report = { sop_instance_uid: '1.2.3', study_uid: '1.2.4', status: 'IN PROGRESS' };
	assert.equal(await post('mpps', '/ingest', 'application/json', JSON.stringify(report)), 200);
	using scu = await StorageScu.open(service.port('dimse'), { called });
	assert.equal(await scu.echo(), 0);
	assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.5', pixels: Buffer.alloc(100) }))).status, 0);
	// Other content under the same UID is a conflict that waits for a person.
	assert.equal((await scu.store(ctInstance({ sopInstanceUid: '1.2.5', pixels: Buffer.alloc(100, 1) }))).status, 0xb000);
	await scu.release();
	assert.equal(await post('fhir', '/dicomweb/studies', multipartType, new Uint8Array(multipartBody([file()]))), 200);
	assert.equal((await service.fhir('/dicomweb/studies', key, { Accept: 'application/dicom+json' })).status, 200);
	assert.ok((await new BulkClient(service, key).exported()).has('Patient'));
}

describe('a Prometheus that scrapes a node', { skip: without('prometheus', 'promtool') }, () => {
	let service: TestService;
	let prometheus: Prometheus;
	let site: { key: string; called: string };

	before(async () => {
		service = await testService({ PROCESSES: '1', OPS_PORT: String(await freePort()) });
		site = await addImagingSite(service, 'north');
		await service.addSite('south', { allowed_ips: ['127.0.0.2'], sending_application: 'ADT' });
		prometheus = new Prometheus();
		await prometheus.start(service.port('ops'));
	});

	after(async () => {
		await prometheus[Symbol.asyncDispose]();
		await service[Symbol.asyncDispose]();
	});

	test('takes every rule, and one unmatched message raises its alert', async () => {
		await eventually(async () => {
			const { groups } = await prometheus.get('/api/v1/rules');
			const rules = groups.flatMap(({ rules }: { rules: { name: string; health: string; lastError?: string }[] }) => rules);
			assert.deepEqual(
				rules.filter(({ lastError }: { lastError?: string }) => lastError),
				[],
			);
			return rules.length > 0 && rules.every(({ health }: { health: string }) => health === 'ok');
		}, 'the first evaluation');
		const alert = 'ALERTS{alertname="TributaryUnmatchedMessages", reason="no-sender"}';
		assert.deepEqual(await prometheus.query(alert), []);
		const sender = await MllpClient.connect(service.port('mllp'), '127.0.0.2');
		assert.equal(msa(await sender.send(adt('0', 'BOARD', 1).replace('|ADT|', '|OTHER|'))).code, 'AE');
		sender.close();
		await eventually(async () => (await prometheus.query(alert)).length > 0, 'the alert');
	});

	test('has series for every panel of the dashboards, after work through every surface', async (t) => {
		await work(service, site);
		await eventually(
			async () => (await prometheus.query('tributary_feed_last_message_timestamp_seconds')).length > 0,
			'the figures of feeds, which are read from what is stored',
		);
		const scraped = await prometheus.scrapes();
		await eventually(async () => (await prometheus.scrapes()) > scraped + 3, 'scrapes of what was done');
		const queries = queriesOfPanels();
		t.diagnostic(`${queries.length} queries`);
		const left = await prometheus.empty(queries);
		// A feed falls silent, and the node starts again, which counts at once what is stored: conflicts, silent feeds and segments. It has TLS now.
		const [{ id } = { id: '' }] = await service.rows<{ id: string }>(
			"select c.id from integration_client c join site s on s.id = c.site_id where s.slug = 'south'",
		);
		const before = "update feed_hour set last_at = last_at - interval '20 minutes' where feed = $1 returning feed";
		await eventually(async () => (await service.rows(before, [id])).length > 0, 'the figures of the feed');
		await setClient(service.administration, { id, silent_after: '10m' });
		using files = new CertificateFiles();
		await service.restart(files.variables);
		let still = left;
		await eventually(async () => {
			still = await prometheus.empty(still);
			return still.length === 0;
		}, 'series for every panel').catch(() => undefined);
		assert.deepEqual(still, []);
	});

	test('gets metrics that promtool has nothing against, after all that', async () => {
		const text = await (await fetch(`http://127.0.0.1:${service.port('ops')}/metrics`)).text();
		assert.deepEqual(promtool(['check', 'metrics'], text), { code: 0, text: '' });
	});
});
