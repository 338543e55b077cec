import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '#test/support/eventually.ts';
import type { Cluster, DatabaseNode } from '../../ops/cluster/cluster.ts';
import type { Part } from '../../ops/cluster/part.ts';

/** Something that happens to a cluster. */
export interface Strike {
	name: string;
	/** Senders may notice nothing of it. Otherwise a strike that nobody noticed fails the run. */
	mayPassUnnoticed?: boolean;
	/** Makes it; what was ended stays so until `mend`. */
	strike(cluster: Cluster): Promise<void>;
	/** Puts it right, as an operator or a supervisor would. */
	mend(cluster: Cluster): Promise<void>;
}

async function killed(part: Part): Promise<void> {
	part.signalAll('SIGKILL');
	await eventually(() => part.processes.length === 0, `the end of ${part.name}`);
}

async function leaderOf(cluster: Cluster): Promise<DatabaseNode> {
	const leader = await cluster.leader();
	if (leader === undefined) throw new Error('no database node leads');
	return leader;
}

/** Patroni gives up a leader after 20 seconds. */
const succeededMsMax = 90_000;

/** Resolves when another node leads. @throws Error when none does in time */
async function succeeded(cluster: Cluster, before: DatabaseNode): Promise<void> {
	for (const untilMs = Date.now() + succeededMsMax; Date.now() < untilMs; await pause(25)) {
		const leader = await cluster.leader();
		if (leader !== undefined && leader !== before) return;
	}
	throw new Error(`no other node leads after ${succeededMsMax / 1000} s`);
}

/** Kills one part, which its supervisor starts again. */
function killOf(name: string, part: (cluster: Cluster) => Part): Strike {
	return {
		name: `${name} killed`,
		strike: async (cluster) => {
			await killed(part(cluster));
			await pause(2000);
		},
		mend: (cluster) => part(cluster).start(),
	};
}

function nodeOf(cluster: Cluster, index: number): Part {
	const node = cluster.nodes[index];
	if (node === undefined) throw new Error(`there is no node ${index + 1}`);
	return node.part;
}

/** Strikes the node that leads when it begins. Another one leads at its end. */
function ofLeader(
	name: string,
	strike: (cluster: Cluster, leader: DatabaseNode) => void | Promise<void>,
	mend: (cluster: Cluster, leader: DatabaseNode) => void | Promise<void>,
): Strike {
	let struck: DatabaseNode | undefined;
	return {
		name,
		strike: async (cluster) => {
			struck = undefined;
			struck = await leaderOf(cluster);
			await strike(cluster, struck);
			await succeeded(cluster, struck);
		},
		mend: async (cluster) => {
			if (struck !== undefined) await mend(cluster, struck);
			await cluster.standsBy(2);
		},
	};
}

export const strikes: readonly Strike[] = [
	killOf('a node', (cluster) => nodeOf(cluster, 0)),
	{
		name: 'all nodes rolled',
		mayPassUnnoticed: true,
		strike: async ({ nodes }) => {
			for (const { part } of nodes) {
				await part.stop('SIGTERM');
				await part.start();
				// HAProxy gives it work again after its next check.
				await pause(2000);
			}
		},
		mend: async ({ nodes }) => {
			for (const { part } of nodes) if (part.pid === undefined) await part.start();
		},
	},
	killOf('PgBouncer', ({ pooler }) => pooler),
	killOf('HAProxy', ({ haproxy }) => haproxy),
	{ ...killOf('etcd', ({ etcd }) => etcd), mayPassUnnoticed: true },
	ofLeader(
		"the leader's machine killed",
		(_cluster, { part }) => killed(part),
		(_cluster, { part }) => part.start(),
	),
	ofLeader(
		"the leader's link cut",
		({ network }, { namespace }) => network.link(namespace, 'down'),
		({ network }, { namespace }) => network.link(namespace, 'up'),
	),
	ofLeader(
		'a switchover that was asked for',
		async (_cluster, { part, address }) => {
			const answer = await fetch(`http://${address}:8008/switchover`, { method: 'POST', body: JSON.stringify({ leader: part.name }) });
			if (!answer.ok) throw new Error(`the switchover was answered ${answer.status}: ${await answer.text()}`);
		},
		() => undefined,
	),
	(() => {
		let struck: DatabaseNode | undefined;
		return {
			name: 'the synchronous standby killed',
			strike: async (cluster: Cluster) => {
				struck = undefined;
				struck = await cluster.synchronousStandby();
				if (struck === undefined) throw new Error('no standby is synchronous');
				await killed(struck.part);
			},
			mend: async (cluster: Cluster) => {
				await struck?.part.start();
				await cluster.standsBy(2);
			},
		};
	})(),
	ofLeader(
		"the leader's machine frozen",
		(_cluster, { part }) => part.signalAll('SIGSTOP'),
		(_cluster, { part }) => part.signalAll('SIGCONT'),
	),
];
