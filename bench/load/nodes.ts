import { ServiceProcess } from '#test/support/service-process.ts';
import { messagesAsAcknowledged } from '../suite/books.ts';
import type { SuiteOptions } from '../suite/options.ts';
import { middle } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { type MllpDriver, type MllpLoad, type MllpResult, mllpDriver } from './mllp-driver.ts';
import { observe, saturatedBy, type Usage } from './usage.ts';

/**
 * Measures what one, two and three nodes of one process take on one database, with as many connections in all. Each site comes to one node, as a balancer
 * with affinity has it, or to all of them, so that the nodes take turns at each site. All share the cores of this machine: it shows what nodes
 * cost one another, and not what further machines would add.
 */
const connectionsInAll = 48;
const nodesMax = 3;

interface Round {
	perSecond: number;
	results: MllpResult[];
	usage: Usage;
	ledger: string;
}

/** Further nodes beside the service of a subject, on its database. */
class Nodes implements AsyncDisposable {
	readonly #subject: Subject;
	readonly #others: ServiceProcess[] = [];

	constructor(subject: Subject) {
		this.#subject = subject;
	}

	async add(): Promise<void> {
		const { databaseUrl } = this.#subject;
		const service = new ServiceProcess({ LOG_LEVEL: 'warn', WORKERS: '1', PROCESSES: '1', DATABASE_URL: databaseUrl });
		this.#others.push(service);
		await service.start();
	}

	get ports(): number[] {
		return [this.#subject.port('mllp'), ...this.#others.map((service) => service.port('mllp'))];
	}

	/** Reads the clocks of all nodes and of the database. */
	observe(): (driver: number) => Usage {
		const { databasePid } = this.#subject.service;
		const first = this.#subject.observe();
		const others = this.#others.map(({ pid }) => observe({ pid, databasePid }));
		return (driver) => {
			const used = [first(driver), ...others.map((read) => read(0))];
			const sum = (of: (usage: Usage) => number) => used.reduce((total, usage) => total + of(usage), 0);
			const most = (of: (usage: Usage) => number) => Math.max(...used.map(of));
			return {
				...(used[0] as Usage),
				busiestMain: most(({ busiestMain }) => busiestMain),
				busiestOther: most(({ busiestOther }) => busiestOther),
				main: sum(({ main }) => main),
				others: sum(({ others: more }) => more),
			};
		};
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all(this.#others.map((service) => service[Symbol.asyncDispose]()));
	}
}

export async function nodes(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const driver = mllpDriver();
	await using subject = await Subject.open('Tributary', { environment: { WORKERS: '1', PROCESSES: '1' }, sites: 12 });
	recorder.database = await subject.settings();
	await using all = new Nodes(subject);
	let from = 0;
	for (let count = 1; count <= nodesMax; count++) {
		if (count > 1) await all.add();
		for (const isShared of count === 1 ? [false] : [false, true]) {
			const rounds: Round[] = [];
			for (let round = 0; round <= options.rounds; round++) {
				const seconds = round === 0 ? Math.min(1.5, options.seconds) : options.seconds;
				const loads = loadsOf(subject, all.ports, { isShared, seconds, from });
				from += loads.reduce((sum, load) => sum + load.count, 0);
				const measured = await measure(subject, all, { driver, loads }, recorder);
				if (round > 0) rounds.push(measured);
			}
			const { median, lowest, highest } = middle(rounds, ({ perSecond }) => perSecond);
			const { results, usage, ledger, perSecond } = median;
			const most = (of: (result: MllpResult) => number) => Math.max(...results.map(of));
			recorder.line({
				section: 'nodes',
				work: `HL7 v2 over MLLP, ${count === 1 ? 'one node' : `${count} nodes, each site at ${isShared ? 'all' : 'one'}`}`,
				...{ subject: subject.name, kind: 'product', connections: connectionsInAll, perSecond, lowest, highest },
				...{ p50Ms: most(({ p50Ms }) => p50Ms), p99Ms: most(({ p99Ms }) => p99Ms), maxMs: most(({ maxMs }) => maxMs) },
				failed: results.reduce((sum, { notAccepted, disordered }) => sum + notAccepted + disordered, 0),
				...{ driver: driver.name, saturated: saturatedBy(usage), usage, ledger },
			});
		}
	}
}

/** The load of each node. */
function loadsOf(
	{ addresses }: Subject,
	ports: readonly number[],
	{ isShared, seconds, from }: { isShared: boolean; seconds: number; from: number },
): MllpLoad[] {
	const connections = connectionsInAll / ports.length;
	const count = Math.ceil(9000 * seconds) + 2 * connections;
	return ports.map((port, node) => {
		const those = isShared ? addresses : addresses.filter((_, index) => index % ports.length === node);
		return { port, connections, seconds, addresses: those, from: from + node * count, count };
	});
}

async function measure(
	subject: Subject,
	all: Nodes,
	{ driver, loads }: { driver: MllpDriver; loads: readonly MllpLoad[] },
	recorder: Recorder,
): Promise<Round> {
	const used = all.observe();
	const results = await Promise.all(loads.map((load) => driver.run(load)));
	const usage = used(results.reduce((sum, { driverShare }) => sum + driverShare, 0));
	const texts: string[] = [];
	for (const [index, load] of loads.entries()) {
		const result = results[index];
		if (result === undefined) continue;
		const { text, isFault } = await messagesAsAcknowledged(subject, load, result);
		if (isFault) recorder.fault(`node ${index + 1} of ${loads.length}: ${text}`);
		texts.push(text);
	}
	return { perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0), results, usage, ledger: texts.join('; ') };
}
