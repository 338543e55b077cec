import { userInfo } from 'node:os';
import { type OperationContext, wholeNetwork } from '#administration/context.ts';
import { notificationMeans } from '#alerts/means.ts';
import { targetPolicy } from '#core/target-policy.ts';
import type { Delivery } from '#record/delivery.ts';
import { openEntities } from '#storage/entities/index.ts';
import { confirmedByNode } from '#storage/node-processes.ts';
import { configuredObjectStore } from '#storage/objects/open.ts';
import type { Config } from '../config.ts';
import type { CliHooks, CliStreams } from './command.ts';
import type { Opened } from './opened.ts';

/** Works on the network as an administrator: whoever can run the command line is one. */
export async function withContext<T>(
	{ database, databaseUrl, config }: Opened,
	streams: CliStreams,
	hooks: CliHooks,
	work: (context: OperationContext) => Promise<T>,
): Promise<T> {
	const orm = await openEntities(database.people);
	try {
		return await work({
			...wholeNetwork(`cli:${userInfo().username}`),
			em: orm.em,
			nowMs: () => Date.now(),
			accessChanged: () => untilInForce(config, streams),
			allowAnySource: config.ALLOW_ANY_SOURCE,
			targets: targetPolicy(config.ALLOWED_TARGETS, config.HOST),
			database: database.people,
			objects: configuredObjectStore(config),
			headerBytesMax: config.limits.dicomHeaderBytesMax,
			limits: config.limits,
			echo: hooks.remoteEcho(config),
			notifications: notificationMeans(config, Date.now),
			send: hooks.remoteSend(config),
			reader: database.currentReads,
			replayRuns: undefined,
			renderer: undefined,
			deliver: <Sent extends Delivery>(delivery: Sent) => hooks.processDelivery(databaseUrl, delivery, config.limits),
		});
	} finally {
		await orm.close(true);
	}
}

/** A service that runs on this node has the change in force when the command ends; where it does not confirm that, people are told. */
async function untilInForce({ DATA_DIR, limits }: Config, streams: CliStreams): Promise<void> {
	const late = await confirmedByNode(DATA_DIR, limits.accessConfirmMsMax);
	if (late.length === 0) return;
	const when = `within ${limits.accessConfirmMsMax / 1000} s; it follows as soon as it can read the database`;
	streams.stderr.write(`tributary: the change is made, but ${late.join(', ')} did not confirm it ${when}\n`);
}
