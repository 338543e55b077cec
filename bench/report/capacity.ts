import type { UnitCost } from '../suite/result.ts';
import { markdownTable } from './markdown.ts';
import type { Kept } from './performance.ts';
import { figure } from './plot.ts';
import { recorded } from './recorded.ts';

/** docs/capacity.md: what a network needs, computed from what one piece of each kind of work costs. */

/** The network that the page is about, at its busiest second. */
export const network = { sites: 500, messagesPerSecond: 20_000, instancesPerSecond: 5000, readsPerSecond: 5000, searchesPerSecond: 2000 };

/** An average second of the day has this part of the busiest one. */
const averageShare = 0.45;
/** A core is planned to be so busy at most. */
const busyMax = 0.6;

export interface Need {
	work: string;
	perSecond: number;
	serviceCores: number;
	databaseCores: number;
	walMbPerSecond: number;
	storedGbPerDay: number;
}

export function needsOf(costs: readonly UnitCost[]): Need[] {
	const shares: readonly [RegExp, number][] = [
		[/MLLP/, network.messagesPerSecond],
		// Four of five instances are small: computed radiography, ultrasound frames and reports are larger, MR and many CT slices are compressed.
		[/C-STORE 10 KB/, network.instancesPerSecond * 0.8],
		[/C-STORE CT/, network.instancesPerSecond * 0.2],
		[/FHIR read/, network.readsPerSecond],
		[/Observation\?patient=/, network.searchesPerSecond],
	];
	return shares.flatMap(([pattern, perSecond]) => {
		const cost = costs.find(({ work }) => pattern.test(work));
		if (cost === undefined) return [];
		return [
			{
				work: cost.work,
				perSecond,
				serviceCores: (perSecond * cost.serviceMs) / 1000,
				databaseCores: (perSecond * cost.databaseMs) / 1000,
				walMbPerSecond: (perSecond * cost.walBytes) / 1e6,
				storedGbPerDay: (perSecond * averageShare * 86_400 * cost.storedBytes) / 1e9,
			},
		];
	});
}

export function totalOf(needs: readonly Need[]): Omit<Need, 'work' | 'perSecond'> {
	const sum = (of: (need: Need) => number) => needs.reduce((total, need) => total + of(need), 0);
	return {
		serviceCores: sum(({ serviceCores }) => serviceCores),
		databaseCores: sum(({ databaseCores }) => databaseCores),
		walMbPerSecond: sum(({ walMbPerSecond }) => walMbPerSecond),
		storedGbPerDay: sum(({ storedGbPerDay }) => storedGbPerDay),
	};
}

function needsTable(needs: readonly Need[]): string {
	const total = totalOf(needs);
	const cells = ({ serviceCores, databaseCores, walMbPerSecond, storedGbPerDay }: Omit<Need, 'work' | 'perSecond'>) =>
		[serviceCores, databaseCores, walMbPerSecond, storedGbPerDay].map(figure);
	const head = ['work', 'per second', 'service, cores', 'database, cores', 'WAL, MB/s', 'stored, GB a day'];
	return markdownTable(
		head,
		[...needs.map((need) => [need.work, figure(need.perSecond), ...cells(need)]), ['all', '', ...cells(total)]],
		head.slice(1),
	);
}

function simulated(kept: readonly Kept[]): string {
	const found = kept.find(({ result }) => result.lines.some(({ section }) => section === 'simulate'));
	const line = found?.result.lines.find(({ section }) => section === 'simulate');
	if (found === undefined || line === undefined) return 'No simulated day is kept: `npm run bench -- simulate --keep simulate`.';
	const { name, result } = found;
	return `Run \`${name}\`, ${result.startedAt.slice(0, 10)}, commit ${result.commit}: ${line.work}, ${figure(line.perSecond)} messages a second on average; ${line.saturated}; ${line.ledger}. Failures: ${result.notes.join('; ')}.`;
}

export function capacityDocument(kept: readonly Kept[]): string {
	const source = kept.find(({ result }) => result.unitCosts.length > 0);
	if (source === undefined) return '# Capacity\n\nNo run with unit costs is kept: `npm run bench -- unit-costs --keep suite`.\n';
	const { name, result } = source;
	const costs = result.unitCosts;
	const needs = needsOf(costs);
	const total = totalOf(needs);
	const cores = (busy: number) => Math.ceil(busy / busyMax);
	const message = costs.find(({ work }) => work.includes('MLLP'));
	const perCore = message === undefined ? 0 : 1000 / (message.serviceMs + message.databaseMs);
	const published = recorded.filter(({ by }) => /InterSystems|Blaze/.test(by));
	const create = costs.find(({ work }) => work.includes('create'));
	return `# Capacity

This page is generated with docs/performance.md. It computes what a network needs from what one piece of each kind of work costs on the machine of run
\`${name}\` (${result.machine}, ${result.startedAt.slice(0, 10)}, commit ${result.commit}, load before ${figure(result.loadBefore)}). It assumes that
cost stays the same with more cores, which was measured on two cores only, and that work is spread over sites.

## What one piece of work costs

Measured while the service was busy. WAL is what PostgreSQL logs, and what a replica and an archive receive. Stored is rows with their indexes and, for
images, the objects.

${markdownTable(
	['work', 'service, ms CPU', 'database, ms CPU', 'WAL, bytes', 'stored, bytes'],
	costs.map(({ work, serviceMs, databaseMs, walBytes, storedBytes }) => [
		work,
		...[serviceMs, databaseMs, walBytes, storedBytes].map(figure),
	]),
	['service, ms CPU', 'database, ms CPU', 'WAL, bytes', 'stored, bytes'],
)}

## A network of ${network.sites} sites

At its busiest second ${figure(network.messagesPerSecond)} messages, ${figure(network.instancesPerSecond)} instances (one of five a CT of 525 KB), ${figure(network.readsPerSecond)} reads and
${figure(network.searchesPerSecond)} searches; an average second of the day has ${averageShare * 100} % of that.

${needsTable(needs)}

- **Service**: ${cores(total.serviceCores)} cores, so that they are at most ${busyMax * 100} % busy. A node of 16 cores runs several processes on the same ports (PROCESSES); nodes
  keep no state, so half of them may fail if the others have cores for all.
- **Database**: ${cores(total.databaseCores)} cores at ${busyMax * 100} %, and a disk that takes ${figure(total.walMbPerSecond)} MB of WAL a second besides the pages of checkpoints. One PostgreSQL
  server is the limit that nodes share: where its disk or its cores do not suffice, the sites are divided among installations, which is possible
  because no statement crosses sites.
- **Network**: ${figure((network.instancesPerSecond * 0.2 * 0.525 * 8) / 1000 + (network.messagesPerSecond * 1300 * 8) / 1e9)} Gbit/s in at the busiest second.
- **Storage**: ${figure(total.storedGbPerDay / 1000)} TB a day, most of it images; retention and a second copy are not counted.

## A simulated day

\`npm run bench -- simulate\` plays the rhythm of a day, scaled in time: an upgrade at night, a kill at the busiest hour, a database that stands still in the
afternoon. Senders keep what was not answered. The report plots how many messages wait at them.

${simulated(kept)}

## What others publish

${markdownTable(
	['what', 'figure', 'by', 'when and where'],
	published.map(({ what, figure: told, by, where }) => [what, told, by, where]),
)}

InterSystems counts messages in and out together, and its engine routes and transforms without making a clinical record of them. Tributary's messages
are parsed, mapped to resources and indexed: one core of the machine above (service and database together) takes ${figure(perCore)} of them a second, so 26,600
a second would take ${figure(26_600 / (perCore || 1))} such cores. Blaze imports from files; by \`$import\` and by creates Tributary's costs are those of docs/performance.md. 10⁹ resources of
${figure(create?.storedBytes ?? 0)} bytes each (an Observation, with indexes) take ${figure(((create?.storedBytes ?? 0) * 1e9) / 2 ** 40)} TiB; Blaze reports 1,045 GiB for 1.04 × 10⁹.
`;
}
