import { z } from 'zod';
import { severities } from '#alerts/rule.ts';

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

/** The last hour of all nodes, as it is stored. */
export const lastHour = z.strictObject({
	since: z.iso.datetime().meta({ description: 'the hour begins here, or the record does if that is later' }),
	received: count,
	refused: count,
	minutes: z.array(z.strictObject({ at: z.iso.datetime(), received: count, refused: count })),
});
export type LastHour = z.output<typeof lastHour>;

/** The current state. */
export const overviewStateOutput = z.strictObject({
	mailboxes: z.array(z.strictObject({ site: z.string(), waiting: count })).meta({ description: 'mailboxes with waiting messages' }),
	last_hour: lastHour.nullable().meta({ description: 'what all nodes received in the last hour; null while it could not be read yet' }),
	storage_bytes: measured.meta({ description: 'database and images; without access to all sites, only the images of your sites' }),
	alerts: z.array(
		z.strictObject({
			name: z.string(),
			since: z.iso.datetime(),
			summary: z.string(),
			severity: z.enum(severities),
			runbook: z.string().meta({ description: 'what to do, in Markdown' }),
			list: z.string().nullable().meta({ description: 'the address in the console of the rows that it speaks of' }),
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
