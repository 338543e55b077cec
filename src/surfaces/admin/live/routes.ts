import type { Session } from '#access/sessions.ts';
import { jsonAnswer } from '../../http/json-answer.ts';
import type { HttpAnswer, Route } from '../../http/message.ts';
import type { AdminContext } from '../context.ts';
import { signedIn } from '../guard.ts';
import type { Viewed } from './figures.ts';

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

async function watch({ watchers, figures }: AdminContext, session: Session): Promise<HttpAnswer> {
	const viewed = viewedBy(session);
	return {
		status: 200,
		headers: { 'Content-Type': 'text/event-stream; charset=utf-8' },
		body: await watchers.stream(
			session,
			() => figures.latest(viewed),
			() => figures.state(viewed),
		),
	};
}
