/**
 * Senders work for a long time at 60 % of what they reach without a pause, while connections, keys and clients come and go, and what the service
 * holds is watched: `npm run test:soak -- [options]`.
 *
 *   --seconds <n>   so long (1800)
 *   --share <n>     of the measured maximum (0.6)
 *   --sites <n>     sites, each with a sender of every kind (4)
 *   --processes <n> processes of the service, each of which is watched (PROCESSES, else 1)
 *   --keep          keeps the result for docs/trust.md
 *
 * From ten minutes on it is judged whether memory, descriptors, the lag of the event loop, dead rows and connections stay flat: the line of
 * least squares through the second half may rise over that half by no more than the table says. A shorter run shows that the machinery works.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LedgerClient } from '#test/support/ledger/client.ts';
import type { SenderKind } from '#test/support/ledger/senders.ts';
import { faultOf } from '#test/support/ledger/verdict.ts';
import { circumstances, conclude, type ProofResult } from '#test/trust/results.ts';
import { riseOf } from './line-of-least-squares.ts';
import { measures, Soak } from './soak.ts';

const { values: options } = parseArgs({
	options: {
		seconds: { type: 'string', default: '1800' },
		share: { type: 'string', default: '0.6' },
		sites: { type: 'string', default: '4' },
		processes: { type: 'string', default: process.env['PROCESSES'] ?? '1' },
		keep: { type: 'boolean', default: false },
	},
});
const seconds = Number(options.seconds);
const share = Number(options.share);
const isJudged = seconds >= 600;

/** No kind has TLS, whose cost is the sender's as much as the service's. */
const kinds: readonly SenderKind[] = [
	'mllp',
	'hl7',
	'v3',
	'mpps',
	'mpps-dimse',
	'dimse',
	'stow',
	'fhir-create',
	'fhir-update',
	'fhir-transaction',
];

interface Load {
	maximum: number;
	perSecond: number;
	reached: number;
	failures: string[];
}

async function load(soak: Soak, ledger: LedgerClient): Promise<Load> {
	const failures: string[] = [];
	const measuredMs = Math.min(30_000, (seconds * 1000) / 6);
	// The first seconds do not count: code is still being compiled.
	await soak.maximum(ledger, measuredMs / 2);
	const maximum = await soak.maximum(ledger, measuredMs);
	const perSecond = maximum * share;
	console.log(
		`${Math.round(maximum)} pieces of work a second without a pause; ${Math.round(perSecond)} a second from now on, for ${seconds} s`,
	);
	const before = ledger.counts.accepted;
	const over = new AbortController();
	const everyMs = ((soak.sites.length * kinds.length) / perSecond) * 1000;
	const work = ledger.run({ signal: over.signal, everyMs, renewedAfter: 50 });
	const churning: Promise<void>[] = [];
	const startedMs = performance.now();
	const elapsed = () => (performance.now() - startedMs) / 1000;
	for (let second = 0; elapsed() < seconds; second++) {
		churning.push(soak.churn(second).catch((error: Error) => void failures.push(`churn: ${error.message}`)));
		await soak.sample(elapsed());
		await pause(1000);
	}
	const reached = (ledger.counts.accepted - before) / elapsed();
	over.abort();
	await Promise.all([work, ...churning]);
	if (isJudged && reached < perSecond * 0.95) failures.push(`${reached.toFixed(1)} a second were reached of ${perSecond.toFixed(1)}`);
	return { maximum, perSecond, reached, failures };
}

/** One row for each figure that is watched, of the second half: mean, most of all, by how much it rose, and by how much it may. */
function watched(soak: Soak, failures: string[]): (string | number)[][] {
	return [...soak.samples].map(([name, { measure, points }]) => {
		const half = points.slice(points.length >> 1);
		const rise = riseOf(half);
		if (isJudged && rise > measures[measure]) failures.push(`${name} rose by ${rise.toFixed(1)}, ${measures[measure]} are allowed`);
		const mean = half.reduce((sum, [, value]) => sum + value, 0) / Math.max(1, half.length);
		return [name, mean.toFixed(1), Math.max(...points.map(([, value]) => value)).toFixed(1), rise.toFixed(1), measures[measure]];
	});
}

const startedMs = Date.now();
const soak = new Soak(Number(options.processes));
try {
	await soak.open(Number(options.sites));
	const ledger = new LedgerClient(soak.sites, { port: (surface) => soak.service.port(surface) }, kinds);
	const begun = soak.processes;
	const { maximum, reached, failures } = await load(soak, ledger);
	for (const [of, pid] of soak.processes) if (begun.get(of) !== pid) failures.push(`the process${of} has ended and was started again`);
	await pause(1500);
	const verdict = await ledger.verdict(soak.databaseUrl);
	const fault = faultOf(verdict);
	if (fault !== undefined) failures.push(fault);
	if (ledger.counts.refused > 0) failures.push(`${ledger.counts.refused} pieces of work were refused`);
	const rows = watched(soak, failures);
	const result: ProofResult = {
		proof: 'soak',
		...circumstances(
			startedMs,
			`npm run test:soak -- --seconds ${seconds} --share ${share} --sites ${soak.sites.length} --processes ${options.processes}`,
		),
		seed: null,
		passed: failures.length === 0,
		failures,
		figures: {
			seconds,
			maximumPerSecond: Math.round(maximum),
			perSecond: Math.round(reached),
			acknowledged: verdict.acknowledged,
			lost: verdict.lost.length,
			doubled: verdict.repeated.length,
			disordered: verdict.disordered.length,
			...soak.churned,
		},
		table: { head: ['measure', 'mean', 'most', 'rise', 'allowed'], rows },
		skipped: isJudged ? [] : ['whether all stays flat: that is judged from ten minutes on'],
	};
	conclude(result, options);
} finally {
	await soak[Symbol.asyncDispose]();
}
