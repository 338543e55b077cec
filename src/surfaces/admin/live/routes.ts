import { z } from 'zod';
import type { Session } from '#access/sessions.ts';
import { jsonAnswer } from '../../http/json-answer.ts';
import type { HttpAnswer, Route } from '../../http/message.ts';
import type { AdminContext } from '../context.ts';
import { signedIn } from '../guard.ts';
import type { Viewed } from './figures.ts';

const count = z.number();
const measured = z.number().nullable();

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

export const overviewPath = '/api/v1/overview';

export function liveRoutes(context: AdminContext): Route[] {
	const { figures } = context;
	return [
		signedIn(context, { method: 'GET', pattern: overviewPath }, (session) => jsonAnswer(200, figures.overview(viewedBy(session)))),
		signedIn(context, { method: 'GET', pattern: `${overviewPath}/live` }, (session) => watch(context, session)),
	];
}

function viewedBy({ allSites, sites }: Session): Viewed {
	return allSites ? 'all' : sites.map(({ slug }) => slug);
}

function watch({ watchers, figures }: AdminContext, session: Session): HttpAnswer {
	const viewed = viewedBy(session);
	return {
		status: 200,
		headers: { 'Content-Type': 'text/event-stream; charset=utf-8' },
		body: watchers.stream(
			session,
			() => figures.latest(viewed),
			() => figures.state(viewed),
		),
	};
}
