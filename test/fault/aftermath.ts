import { setTimeout as pause } from 'node:timers/promises';
import { openSegmentsMax } from '#storage/objects/segment-reader.ts';
import type { Descriptors } from '#test/trust/process-figures.ts';
import { aftermathOfWork, failuresOfWork, type WorkAftermath } from '#test/trust/work-aftermath.ts';
import type { Bed } from './bed.ts';

export interface Standing extends Descriptors {
	connections: number;
}

export async function standingOf(bed: Bed): Promise<Standing> {
	const connections = await bed.number(
		"select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
	);
	return { ...bed.descriptors(), connections };
}

/**
 * Descriptors beyond those of the beginning: connections for reads and bulk jobs are opened when they are first used. A segment of the object store
 * stays open for a minute after it was read, and the upkeep of the store looks into each of them every minute.
 */
const allowanceOf = ({ processes }: Bed): Standing => ({
	sockets: 24,
	files: 24 + processes * openSegmentsMax,
	others: 8,
	connections: 16,
});

/** Megabytes that a process of the service may have. */
const residentMax = 900;

export interface Aftermath extends WorkAftermath {
	before: Standing;
	after: Standing;
	leaked: string[];
	leftovers: string[];
	residentMb: { now: number; highest: number };
}

/** Looks at everything once the faults are over. */
export async function aftermathOf(bed: Bed, before: Standing, senders: number): Promise<Aftermath> {
	const work = await aftermathOfWork(bed.ledger, bed, bed.databaseUrl, senders);
	const { after, leaked } = await closed(bed, before);
	return {
		...work,
		before,
		after,
		leaked,
		leftovers: await bed.leftovers(),
		residentMb: bed.memory(),
	};
}

/** Looks until everything that senders have left is closed, for two minutes at most. */
async function closed(bed: Bed, before: Standing): Promise<{ after: Standing; leaked: string[] }> {
	const allowance = allowanceOf(bed);
	for (let tries = 0; ; tries++) {
		const after = await standingOf(bed);
		const leaked = (Object.keys(allowance) as (keyof Standing)[])
			.filter((kind) => after[kind] > before[kind] + allowance[kind])
			.map((kind) => `${kind}: ${after[kind]}, ${before[kind]} at the beginning`);
		if (leaked.length === 0 || tries === 120) return { after, leaked };
		await pause(1000);
	}
}

/** Everything that must not be; empty when all held. */
export function failuresOf(aftermath: Aftermath): string[] {
	const { leaked, leftovers, residentMb } = aftermath;
	const listed = failuresOfWork(aftermath);
	listed.push(...leaked.map((text) => `left open: ${text}`));
	if (leftovers.length > 0) listed.push(`${leftovers.length} temporary files were left: ${leftovers.slice(0, 3).join(', ')}`);
	if (residentMb.now > residentMax) listed.push(`a process has ${residentMb.now} MB`);
	return listed;
}
