import type { Session } from '#access/sessions.ts';
import { type MessageTail, Tail, type TailStep } from '#administration/message-tail.ts';
import { operations } from '#administration/operations/index.ts';
import { jsonAnswer } from '../../http/json-answer.ts';
import type { HttpAnswer, HttpRequest, Route } from '../../http/message.ts';
import type { AdminContext } from '../context.ts';
import { signedIn } from '../guard.ts';
import { carryOut, inputOf } from '../operation-routes.ts';
import type { Viewed } from './figures.ts';
import { event } from './watchers.ts';

export const overviewPath = '/api/v1/overview';
export const tailPath = '/api/v1/messages/tail/live';

export function liveRoutes(context: AdminContext): Route[] {
	const { figures } = context;
	return [
		signedIn(context, { method: 'GET', pattern: overviewPath }, async (session) => {
			await figures.refresh();
			return jsonAnswer(200, figures.overview(viewedBy(session)));
		}),
		signedIn(context, { method: 'GET', pattern: `${overviewPath}/live` }, (session) => watch(context, session)),
		signedIn(context, { method: 'GET', pattern: tailPath }, (session, request) => tail(context, session, request)),
	];
}

function viewedBy({ allSites, sites }: Session): Viewed {
	return allSites ? 'all' : sites.map(({ slug }) => slug);
}

const eventStream = { 'Content-Type': 'text/event-stream; charset=utf-8' };

async function watch({ watchers, figures }: AdminContext, session: Session): Promise<HttpAnswer> {
	const viewed = viewedBy(session);
	let told: string | undefined;
	const next = async () => {
		// The first state replaces what the answer beside it has told, so it waits for the last hour as that does.
		if (told === undefined) await figures.refresh();
		const point = figures.latest(viewed);
		const isNew = point !== undefined && point.at !== told;
		told = point?.at;
		return isNew ? `${event('point', point)}${event('state', figures.state(viewed))}` : '';
	};
	return { status: 200, headers: eventStream, body: await watchers.stream(session, { next }) };
}

const tailStepMs = 1000;

/** Streams messages as they are logged by any node. Its first step is read at once, so that a wrong filter is refused. */
async function tail(context: AdminContext, session: Session, request: HttpRequest): Promise<HttpAnswer> {
	const operation = operations.find(({ name }) => name === 'messages tail');
	if (operation === undefined) throw new Error('there is no operation to tail messages');
	const given = inputOf(operation, request);
	const { nowMs } = await context.services();
	const read = async (since: string) => (await carryOut(context, operation, session, request, { since, ...given })) as MessageTail;
	const shown = new Tail(read, nowMs);
	let first: TailStep | undefined = await shown.next();
	const next = async () => {
		const { messages, skipped } = first ?? (await shown.next());
		first = undefined;
		return `${skipped ? event('skipped', {}) : ''}${messages.length > 0 ? event('messages', messages) : ''}`;
	};
	return { status: 200, headers: eventStream, body: await context.watchers.stream(session, { turnMs: tailStepMs, next }) };
}
