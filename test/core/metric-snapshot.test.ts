import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { labelledBy, mergedSnapshots, renderedSnapshots } from '#core/metric-snapshot.ts';
import { createMetrics } from '../../src/metrics.ts';

/** The metrics of two processes, put together. */
async function ofTwo(
	count: (metrics: ReturnType<typeof createMetrics>, process: number) => void,
	processMetrics = false,
): Promise<string[]> {
	const snapshots = [0, 1].map(async (process) => {
		const metrics = createMetrics({ version: '1.2.3', processMetrics });
		count(metrics, process);
		return labelledBy(String(process), await metrics.snapshot());
	});
	return (await renderedSnapshots(mergedSnapshots(await Promise.all(snapshots)))).split('\n');
}

const startingWith = (lines: readonly string[], prefix: string) => lines.filter((line) => line.startsWith(prefix));

describe('the metrics of two processes', () => {
	test('add up where they count', async () => {
		const lines = await ofTwo((metrics, process) => {
			metrics.hl7Messages.inc({ surface: 'mllp', type: 'ADT^A08', outcome: 'accepted' }, 2 + process);
			if (process === 1) metrics.hl7Messages.inc({ surface: 'mllp', type: 'ADT^A08', outcome: 'refused' });
			metrics.acknowledgementSeconds.observe({ surface: 'mllp' }, 0.004);
			metrics.mllpConnections.set(3);
		});
		assert.deepEqual(startingWith(lines, 'tributary_hl7_messages_total{'), [
			'tributary_hl7_messages_total{surface="mllp",type="ADT^A08",outcome="accepted"} 5',
			'tributary_hl7_messages_total{surface="mllp",type="ADT^A08",outcome="refused"} 1',
		]);
		assert.deepEqual(startingWith(lines, 'tributary_hl7_acknowledgement_seconds_count{surface="mllp"}'), [
			'tributary_hl7_acknowledgement_seconds_count{surface="mllp"} 2',
		]);
		assert.ok(lines.includes('tributary_hl7_acknowledgement_seconds_bucket{le="0.005",surface="mllp"} 2'));
		assert.ok(lines.includes('tributary_mllp_connections 6'));
		assert.equal(startingWith(lines, '# TYPE tributary_hl7_messages_total ').length, 1);
	});

	test('are the worse of both where they tell a state, and once where both count the same rows', async () => {
		const lines = await ofTwo((metrics, process) => {
			metrics.databaseUp.set(process);
			metrics.accessSnapshotAge.set(process);
			metrics.mailboxDeepest.set(7 + process);
			metrics.openConflicts.set({ site: 'north' }, 4);
		});
		for (const line of [
			'tributary_database_up 0',
			'tributary_access_snapshot_age_seconds 1',
			'tributary_mailbox_deepest_messages 8',
			'tributary_imaging_conflicts_open{site="north"} 4',
		])
			assert.ok(lines.includes(line), line);
		assert.match(startingWith(lines, 'tributary_build_info').join(), /^tributary_build_info\{version="1\.2\.3",node="v[^"]+"\} 1$/);
	});

	test('stay apart where they are about a process', async () => {
		const lines = await ofTwo(() => undefined, true);
		for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes', 'process_cpu_seconds_total'])
			assert.deepEqual(
				startingWith(lines, `${name}{`).map((line) => line.replace(/ .*/, '')),
				[`${name}{process="0"}`, `${name}{process="1"}`],
			);
	});
});
