import { z } from 'zod';

const count = z.number();
const measured = z.number().nullable();

/** The figures of a node for ten seconds. */
export const pointOutput = z.strictObject({
	at: z.iso.datetime(),
	received: count.meta({ description: 'messages answered in the last ten seconds' }),
	refused: count.meta({ description: 'messages refused in the last ten seconds' }),
	latency_p50_ms: measured.meta({
		description: 'median acknowledgement time in the last ten seconds; null if there was none or you are not permitted to see it',
	}),
	latency_p99_ms: measured.meta({ description: '99th percentile of the acknowledgement time' }),
	waiting: count.meta({ description: 'messages waiting in mailboxes' }),
	associations: measured.meta({ description: 'open DICOM associations' }),
	storage_bytes: measured.meta({ description: 'bytes in storage; updated every five minutes' }),
});

/** The current state. */
export const overviewStateOutput = z.strictObject({
	mailboxes: z.array(z.strictObject({ site: z.string(), waiting: count })).meta({ description: 'mailboxes with waiting messages' }),
	storage_bytes: measured.meta({ description: 'database and images; without access to all sites, only the images of your sites' }),
	alerts: z.array(
		z.strictObject({
			name: z.string(),
			since: z.iso.datetime(),
			summary: z.string(),
			severity: z.enum(['critical', 'warning', 'info']),
		}),
	),
});

export const overviewOutput = z.strictObject({
	points: z.array(pointOutput).meta({ description: 'the last hour of this node, one point every ten seconds' }),
	...overviewStateOutput.shape,
});

export type OverviewPoint = z.output<typeof pointOutput>;
export type OverviewState = z.output<typeof overviewStateOutput>;
export type Overview = z.output<typeof overviewOutput>;
