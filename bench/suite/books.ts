import { faultOf, type StoredWork, type Verdict, verdictOf } from '#test/support/ledger/verdict.ts';
import { controlIdOf, type MllpLoad, type MllpResult } from '../load/mllp-driver.ts';
import type { Subject } from './subject.ts';

/** Compares what a load had acknowledged with what its service stored. Each answers what to print, and whether it is a fault. */
export interface Told {
	text: string;
	isFault: boolean;
}

export function told(verdict: Verdict): Told {
	const fault = faultOf(verdict);
	const { acknowledged, stored } = verdict;
	return {
		text: fault === undefined ? `${stored} stored of ${acknowledged} acknowledged` : `NOT AS ACKNOWLEDGED: ${fault}`,
		isFault: fault !== undefined,
	};
}

/** Names the place where rows are looked for. */
export type Stored = Pick<Subject, 'database'> & { sites: readonly { id: string }[]; siteId: string };

/** Messages over MLLP: each that was answered AA is in the log as accepted, once, and in the order of its connection. */
export async function messagesAsAcknowledged(
	subject: Pick<Stored, 'database' | 'sites'>,
	load: Pick<MllpLoad, 'from' | 'count' | 'connections'>,
	{ answered }: Pick<MllpResult, 'answered'>,
): Promise<Told> {
	const { rows } = await subject.database.query<{ key: string; position: string }>(
		`select control_id as key, sequence as position from message_log
		  where site_id = any($1::uuid[]) and outcome = 'accepted' and control_id >= $2 and control_id < $3`,
		[subject.sites.map(({ id }) => id), controlIdOf(load.from), controlIdOf(load.from + load.count)],
	);
	const stored = rows.map(({ key, position }): StoredWork => ({ key, position: BigInt(position) }));
	const entries = answered.flatMap((count, connection) =>
		Array.from({ length: count }, (_, index) => ({
			sender: String(connection),
			key: controlIdOf(load.from + connection + index * load.connections),
			answer: 'accepted' as const,
		})),
	);
	// Work that was under way when the time was over had no answer yet, or one that nobody read.
	const underWay = answered.map((count, connection) => ({
		sender: String(connection),
		key: controlIdOf(load.from + connection + count * load.connections),
		answer: 'none' as const,
	}));
	return told(verdictOf([...entries, ...underWay], stored));
}

/** So many messages that were all answered AA, of whose order nothing is known: any connection took the next. */
export function eachAsAcknowledged(subject: Pick<Stored, 'database' | 'sites'>, from: number, count: number): Promise<Told> {
	return messagesAsAcknowledged(subject, { from, count, connections: count }, { answered: Array.from({ length: count }, () => 1) });
}

/** Instances: every one that was answered with Success is in the index, once. */
export async function instancesAsAcknowledged(subject: Pick<Stored, 'database' | 'siteId'>, keys: readonly string[]): Promise<Told> {
	const { rows } = await subject.database.query<{ key: string }>(
		'select sop_instance_uid as key from imaging_instance where site_id = $1 and sop_instance_uid = any($2::text[])',
		[subject.siteId, keys],
	);
	const stored = rows.map(({ key }): StoredWork => ({ key, position: 0n }));
	return told(
		verdictOf(
			keys.map((key) => ({ sender: key, key, answer: 'accepted' as const })),
			stored,
		),
	);
}

/**
 * A driver may only count. Then as many rows came to be as were acknowledged, or more by at most one for each connection, whose request
 * was under way when the time was over.
 */
export function countsAsAcknowledged(acknowledged: number, stored: number, connections: number): Told {
	const isFault = stored < acknowledged || stored > acknowledged + connections;
	return { text: `${isFault ? 'NOT AS ACKNOWLEDGED: ' : ''}${stored} stored of ${acknowledged} acknowledged`, isFault };
}
