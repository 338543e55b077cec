import { setTimeout as pause } from 'node:timers/promises';
import { clusterProcesses, isRunning } from '#storage/embedded/process-table.ts';
import { eventually } from '#test/support/eventually.ts';
import { endThread } from '../end-thread.ts';
import { type Fault, growth } from './definition.ts';

/** Tries of senders that had no answer tell that a fault was felt. */
export const kills: readonly Fault[] = [
	{
		name: 'kill -9 of the service',
		strike: (bed) =>
			growth(
				() => bed.ledger.counts.unanswered,
				async () => {
					const ended = bed.members;
					await bed.service.end('SIGKILL');
					await eventually(() => ended.every((pid) => !isRunning(pid)), 'the end of all processes');
					await bed.service.start();
				},
			),
	},
	{
		name: 'kill -9 of one process',
		impossible: ({ processes }) => (processes > 1 ? undefined : 'the node has one process'),
		strike: (bed, chance) =>
			growth(
				() => bed.ledger.counts.unanswered,
				async () => {
					const chosen = chance.of(bed.members);
					process.kill(chosen, 'SIGKILL');
					await eventually(() => bed.members.length === bed.processes && !bed.members.includes(chosen), 'another process');
				},
			),
	},
	{
		name: 'end of a worker thread',
		// One that had nothing to do is replaced when there is something; the service counts those that were at work.
		strike: async (bed, chance) => {
			await endThread(chance.of(bed.members), () => bed.service.output, /piscina/);
			return 1;
		},
	},
	{
		name: "kill -9 of PostgreSQL's postmaster",
		strike: (bed) =>
			growth(
				() => bed.databaseLine.harm.ended + bed.databaseLine.harm.refused,
				async () => {
					const before = bed.postmaster;
					process.kill(before, 'SIGKILL');
					await eventually(() => bed.postmaster !== 0 && bed.postmaster !== before && isRunning(bed.postmaster), 'another postmaster');
					await bed.acknowledges(50);
				},
			),
	},
	{
		name: 'kill -9 of a backend',
		strike: async (bed) => {
			const [backend] = await bed.rows<{ pid: number }>(
				"select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by state_change desc nulls last limit 1",
			);
			if (backend === undefined) return 0;
			// All others are ended by the postmaster, which then recovers.
			return growth(
				() => bed.databaseLine.harm.ended,
				async () => {
					process.kill(backend.pid, 'SIGKILL');
					await eventually(() => !isRunning(backend.pid), 'the end of the backend');
					await pause(500);
				},
			);
		},
	},
	{
		name: 'SIGSTOP of the database',
		strike: async (bed, chance) => {
			const stopped = [bed.postmaster, ...clusterProcesses(bed.cluster)];
			let still = 0;
			try {
				for (const pid of stopped) signal(pid, 'SIGSTOP');
				await pause(300);
				const from = bed.ledger.counts.accepted;
				await pause(chance.between(1500, 4000));
				// Reads are nothing that is acknowledged: while the database stands, nothing is.
				still = bed.ledger.counts.accepted === from ? 1 : 0;
			} finally {
				for (const pid of stopped) signal(pid, 'SIGCONT');
			}
			return still;
		},
	},
];

function signal(pid: number, name: NodeJS.Signals): void {
	try {
		process.kill(pid, name);
	} catch {
		// It ended meanwhile: backends come and go.
	}
}
