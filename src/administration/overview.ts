import { z } from 'zod';

const count = z.number();
const measured = z.number().nullable();

/** What a node did in ten seconds. */
export const pointOutput = z.strictObject({
	at: z.iso.datetime(),
	received: count.meta({ description: 'messages answered in the ten seconds before' }),
	refused: count.meta({ description: 'of them, refused' }),
	latency_p50_ms: measured.meta({ description: 'acknowledgements in the ten seconds before, median; null: none, or not yours to see' }),
	latency_p99_ms: measured.meta({ description: 'one in a hundred took longer' }),
	waiting: count.meta({ description: 'messages that wait in mailboxes' }),
	associations: measured.meta({ description: 'DICOM associations that are open' }),
	storage_bytes: measured.meta({ description: 'as last read, every five minutes' }),
});

/** What holds now, beside the points. */
export const overviewStateOutput = z.strictObject({
	mailboxes: z.array(z.strictObject({ site: z.string(), waiting: count })).meta({ description: 'those in which something waits' }),
	storage_bytes: measured.meta({ description: 'database and images; of some sites, their images' }),
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
	points: z.array(pointOutput).meta({ description: 'of this node, ten seconds apart, the last hour' }),
	...overviewStateOutput.shape,
});

export type OverviewPoint = z.output<typeof pointOutput>;
export type OverviewState = z.output<typeof overviewStateOutput>;
export type Overview = z.output<typeof overviewOutput>;
