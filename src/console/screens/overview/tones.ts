import type { Alert } from './calls.ts';

/** The figures of the overview, each with the alerts that are about it. */
const alertsOf = {
	rate: ['ConnectionsRefused', 'FrameErrors', 'KeysRefused', 'SendersDropped', 'HttpErrors', 'ShardDown', 'WorkerRestarts', 'DatabaseDown'],
	refused: ['RefusalsHigh'],
	latency: ['AcknowledgementSlow', 'EventLoopLag', 'BatchRetries'],
	waiting: ['MailboxBacklog', 'MailboxFull'],
	associations: ['InstancesRefused', 'AssociationsRejected', 'CommitmentGivenUp'],
	storage: ['ObjectStoreDown', 'InstancesDamaged', 'SegmentDamaged', 'ConflictsOpen'],
} as const;

export type Figure = keyof typeof alertsOf;

/** A tile has the colour of the gravest alert of its own; what only informs gives it none. */
export function toneOf(figure: Figure, alerts: readonly Pick<Alert, 'name' | 'severity'>[]): 'danger' | 'warning' | undefined {
	const names: readonly string[] = alertsOf[figure];
	const firing = alerts.filter(({ name }) => names.includes(name.replace(/^Tributary/, '')));
	if (firing.some(({ severity }) => severity === 'critical')) return 'danger';
	return firing.some(({ severity }) => severity === 'warning') ? 'warning' : undefined;
}
