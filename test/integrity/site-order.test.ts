import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { adt } from '#test/support/adt.ts';
import { insertSites } from '#test/support/many-sites.ts';
import { MllpClient, msa } from '#test/support/mllp-client.ts';
import { eventually, testService } from '#test/support/service.ts';

const siteCount = 50;
const connectionsOfSite = 4;
const messagesOfConnection = 30;

describe('order and once', () => {
	test('numbered A08s of 50 sites over 200 connections: the last acknowledged wins and nothing is applied twice, though workers are killed and batches are interpreted ahead', async () => {
		await using service = await testService({ WORKERS: '2', PROCESSES: '1', BATCH_AHEAD_MIN: '4', SITE_ALONE_MS: '0' });
		const sites = await insertSites(service.databaseUrl, siteCount);
		await eventually(async () => (await service.fhir('/fhir/metadata', sites.at(-1)?.key ?? '')).status === 200, 'the sites');
		const total = siteCount * connectionsOfSite * messagesOfConnection;
		let acknowledged = 0;
		let kills = 0;
		const noteAnswer = () => {
			acknowledged++;
			if (acknowledged % Math.floor(total / 6) !== 0 || acknowledged === total) return;
			const threads = service.process().shards.threads();
			void threads[kills++ % threads.length]?.terminate();
		};
		const senders = sites.flatMap((site) =>
			Array.from({ length: connectionsOfSite }, async (_, connection) => {
				const client = await MllpClient.connect(service.port('mllp'), site.address);
				const answers = Array.from({ length: messagesOfConnection }, async (__, number) => {
					const answer = await client.send(adt(`${connection}-${number}`, `P${connection}`, number));
					noteAnswer();
					return msa(answer);
				});
				const codes = await Promise.all(answers);
				client.close();
				return { codes, extra: client.extra.length };
			}),
		);
		const results = await Promise.all(senders);
		assert.equal(kills, 5);
		for (const { codes, extra } of results) {
			assert.equal(extra, 0);
			assert.deepEqual(
				codes.map(({ code }) => code),
				codes.map(() => 'AA'),
			);
			assert.deepEqual(
				codes.map(({ controlId }) => controlId.split('-')[1]),
				codes.map((_, number) => String(number)),
			);
		}
		const patients = await service.rows<{ version: number; name: string }>('select version, name from patient');
		assert.equal(patients.length, siteCount * connectionsOfSite);
		for (const { version, name } of patients) {
			assert.equal(version, messagesOfConnection);
			assert.match(name, new RegExp(`number${messagesOfConnection - 1}\\b`));
		}
		const [log] = await service.rows(
			'select count(*)::int as rows, count(distinct (site_id, sequence))::int as numbered, count(distinct (site_id, control_id))::int as messages from message_log',
		);
		assert.deepEqual(log, { rows: total, numbered: total, messages: total });
		const disordered = await service.rows(
			`select 1 from (select site_id, split_part(control_id, '-', 1) as connection, split_part(control_id, '-', 2)::int as number,
				lag(split_part(control_id, '-', 2)::int) over (partition by site_id, split_part(control_id, '-', 1) order by sequence) as before from message_log) m
			where before is not null and number <> before + 1`,
		);
		assert.deepEqual(disordered, []);
	});
});
