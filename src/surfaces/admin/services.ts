import { wholeNetwork } from '#administration/context.ts';
import { ReplayRuns } from '#administration/replay-runs.ts';
import { RepeatedTrouble } from '#core/repeated.ts';
import { systemTimers } from '#core/timers.ts';
import type { Delivery, ReplyTo } from '#record/delivery.ts';
import { openEntities } from '#storage/entities/index.ts';
import { deliverSoon } from '../http/deliver.ts';
import { messageTypeLabel } from '../http/message-type-label.ts';
import type { ServiceNode } from '../node.ts';
import type { OperationServices } from './context.ts';

/** Creates the services of operations at the first request, because opening the unit of work takes a moment. */
export function operationServices(
	node: ServiceNode,
	remotes: (config: ServiceNode['config'], metrics: ServiceNode['metrics']) => Pick<OperationServices, 'echo' | 'send'>,
	notifications: OperationServices['notifications'],
): () => Promise<OperationServices> {
	const { config, log, metrics, database, clock, gateway, objects, accessChanged, passwords, renderer, targets } = node;
	const { limits } = config;
	let orm: Awaited<ReturnType<typeof openEntities>> | undefined;
	node.onClose(() => orm?.close(true));
	const replayRuns = new ReplayRuns(log);
	node.onClose(() => replayRuns.close());
	const deliver = async <Sent extends Delivery>(delivery: Sent): Promise<ReplyTo<Sent>> => {
		const reply = await deliverSoon({ gateway, limits }, delivery);
		if (delivery.surface === 'replay' && !delivery.rehearsal && delivery.kind.startsWith('hl7')) {
			const { messageType, outcome, failure } = reply;
			metrics.hl7Messages.inc({ surface: 'replay', type: messageTypeLabel(messageType), outcome });
			if (failure !== undefined) metrics.hl7Refusals.inc({ surface: 'replay', code: failure.code });
		}
		return reply;
	};
	const open = async (): Promise<OperationServices> => {
		orm = await openEntities(database.people);
		return {
			em: orm.em,
			database: database.people,
			nowMs: () => clock.nowMs(),
			accessChanged,
			allowAnySource: config.ALLOW_ANY_SOURCE,
			targets,
			passwords,
			deliver,
			objects,
			headerBytesMax: limits.dicomHeaderBytesMax,
			limits,
			...remotes(config, metrics),
			notifications,
			reader: database.currentReads,
			replayRuns,
			renderer,
		};
	};
	let services: Promise<OperationServices> | undefined;
	const opened = () => {
		services ??= open().catch((error: unknown) => {
			services = undefined;
			throw error;
		});
		return services;
	};
	const notSeen = new RepeatedTrouble(log, 'it could not be seen whether a run waits to be taken up');
	const takeUp = () => {
		replayRuns
			.takeUp(database.people, async () => ({ ...(await opened()), ...ofTheNode(accessChanged) }))
			.then(
				() => notSeen.over(),
				(error: unknown) => notSeen.happened(error),
			);
	};
	const timer = systemTimers.every(takeUpMs, takeUp);
	node.onClose(() => timer.stop());
	takeUp();
	return opened;
}

/** A run whose node has ended goes on within this time, after the minute in which it counts as alive. */
const takeUpMs = 30_000;

/** The actor of a run that is taken up is whoever began it. */
function ofTheNode(accessChanged: OperationServices['accessChanged']) {
	return { ...wholeNetwork('node'), accessChanged: async () => void (await accessChanged()) };
}
