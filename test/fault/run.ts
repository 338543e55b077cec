/**
 * Senders of many sites send numbered work through every surface while faults happen, and what was acknowledged is compared with what is stored:
 * `npm run test:fault -- [options]`.
 *
 *   --seconds <n>     so long at least, and until every kind of fault has happened (60); 3600 is the long form
 *   --sites <n>       sites, each with a sender of every kind (6)
 *   --processes <n>   processes of the node (2)
 *   --only <text>     only the faults whose name has this text
 *   --seed <n>        repeats the faults of a run, in their order and with their lengths
 *   --keep            keeps the result for docs/trust.md
 *
 * The database, the lines and the senders are of the run's own. The result is written to test/trust/build/fault.json too.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { circumstances, conclude, type ProofResult } from '#test/trust/results.ts';
import { Seeded } from '#test/trust/seeded.ts';
import { figuresOfWork } from '#test/trust/work-aftermath.ts';
import { type Aftermath, aftermathOf, failuresOf, standingOf } from './aftermath.ts';
import { Bed, everyKind } from './bed.ts';
import { prepareFailures } from './faults/database.ts';
import type { Fault } from './faults/definition.ts';
import { faults } from './faults/index.ts';

const { values: options } = parseArgs({
	options: {
		seconds: { type: 'string', default: '60' },
		sites: { type: 'string', default: '6' },
		processes: { type: 'string', default: '2' },
		only: { type: 'string', default: '' },
		seed: { type: 'string' },
		keep: { type: 'boolean', default: false },
	},
});
const seconds = Number(options.seconds);
const sites = Number(options.sites);
const processes = Number(options.processes);
const seed = options.seed === undefined ? randomInt(2 ** 31) : Number(options.seed);

interface Record {
	name: string;
	times: number;
	bites: number;
	/** Longest time from the end of the fault until work was acknowledged again. */
	backMs: number;
}

/** Makes the faults one after the other: each kind once, then as chance has it until the time is over. */
async function strikeAll(bed: Bed, chance: Seeded, failures: string[]): Promise<{ records: Record[]; skipped: string[] }> {
	const wanted = faults.filter(({ name }) => name.includes(options.only));
	const skipped = wanted.flatMap(({ name, impossible }) => {
		const reason = impossible?.(bed);
		return reason === undefined ? [] : [`${name}: ${reason}`];
	});
	const possible = wanted.filter(({ impossible }) => impossible?.(bed) === undefined);
	const records = possible.map(({ name }): Record => ({ name, times: 0, bites: 0, backMs: 0 }));
	const untilMs = Date.now() + seconds * 1000;
	const first = chance.shuffled(possible);
	for (let count = 0; count < first.length || Date.now() < untilMs; count++) {
		const fault = first[count] ?? chance.of(possible);
		const record = records.find(({ name }) => name === fault.name);
		if (record === undefined) continue;
		await strike(bed, fault, chance, record, failures);
		if (failures.length > 3) break;
		// In a long run the senders have time to fill the tables.
		if (count >= first.length) await pause(chance.between(2000, 12_000));
	}
	return { records, skipped };
}

async function strike(bed: Bed, fault: Fault, chance: Seeded, record: Record, failures: string[]): Promise<void> {
	const startedMs = Date.now();
	const refused = bed.refusals.length;
	let bites = 0;
	bed.underWay = fault.name;
	try {
		bites = await fault.strike(bed, chance);
		const healedMs = Date.now();
		await bed.ledger.eachAcknowledged();
		record.backMs = Math.max(record.backMs, Date.now() - healedMs);
	} catch (error) {
		failures.push(`${fault.name}: ${(error as Error).message}`);
	}
	bed.heal();
	bed.underWay = 'no fault';
	record.times++;
	record.bites += bites;
	console.log(
		`${fault.name}: bit ${bites} times in ${((Date.now() - startedMs) / 1000).toFixed(1)} s; ${bed.ledger.counts.accepted} acknowledged, ${bed.refusals.length - refused} refused`,
	);
	if (bites === 0) failures.push(`${fault.name}: it was not observed to bite`);
	// AE and 4xx are for faults of the message: only the one SQLSTATE that says so may make them.
	const wrongly = bed.refusals.slice(refused);
	if (wrongly.length > 0 && !fault.mayRefuse) {
		failures.push(`${fault.name}: ${wrongly.length} pieces of sound work were refused, the first one: ${wrongly[0]}`);
	}
}

function resultOf(
	startedMs: number,
	records: readonly Record[],
	skipped: string[],
	failures: string[],
	bed: Bed,
	seen: Aftermath,
): ProofResult {
	const { before, after, residentMb } = seen;
	const all = [...failures, ...failuresOf(seen)];
	return {
		proof: 'fault',
		...circumstances(startedMs, `npm run test:fault -- --seconds ${seconds} --sites ${sites} --processes ${processes} --seed ${seed}`),
		seed,
		passed: all.length === 0,
		failures: all,
		figures: {
			seconds,
			sites,
			senders: sites * everyKind.length,
			faults: records.reduce((sum, { times }) => sum + times, 0),
			kinds: records.length,
			refused: bed.ledger.counts.refused,
			unanswered: bed.ledger.counts.unanswered,
			...figuresOfWork(seen),
			descriptorsBefore: before.sockets + before.files + before.others,
			descriptorsAfter: after.sockets + after.files + after.others,
			connectionsAfter: after.connections,
			leftovers: seen.leftovers.length,
			residentMb: residentMb.now,
			residentMbHighest: residentMb.highest,
		},
		table: {
			head: ['fault', 'times', 'bites', 'back after ms'],
			rows: records.map(({ name, times, bites, backMs }) => [name, times, bites, backMs]),
		},
		skipped,
	};
}

const startedMs = Date.now();
console.log(`${seconds} s, ${sites} sites, seed ${seed}`);
const bed = await Bed.open({ sites, processes, answerMsMax: 5000 });
try {
	await prepareFailures(bed);
	await bed.ledger.run({ count: 2, signal: AbortSignal.timeout(60_000) });
	const before = await standingOf(bed);
	const over = new AbortController();
	const work = bed.work(over.signal);
	await bed.ledger.eachAcknowledged();
	const failures: string[] = [];
	const { records, skipped } = await strikeAll(bed, new Seeded(seed), failures);
	over.abort();
	await work;
	const seen = await aftermathOf(bed, before, sites * everyKind.length);
	const result = resultOf(startedMs, records, skipped, failures, bed, seen);
	conclude(result, options);
	const { lost, repeated, disordered, contradicted, unknown } = seen.verdict;
	for (const key of [lost, repeated, disordered, contradicted, unknown].flatMap((keys) => keys.slice(0, 5))) {
		for (const line of [key, ...(await bed.traces(key))]) console.log(line);
	}
	if (seen.leaked.length > 0) console.log(bed.openFiles().join('\n'));
} finally {
	await bed[Symbol.asyncDispose]();
}
