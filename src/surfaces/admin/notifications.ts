import { createHash } from 'node:crypto';
import { AwayTeller } from '#alerts/away-teller.ts';
import type { NotificationMeans } from '#alerts/means.ts';
import { Notifier } from '#alerts/notifier.ts';
import { AlertRecorder } from '#alerts/recorder.ts';
import { type Config, nodeNameOf } from '../../config.ts';
import { originOf } from '../http/origin.ts';
import type { ServiceNode } from '../node.ts';
import type { Figures } from './live/figures.ts';

/** Tells nodes apart whose names are alike, because they run on one host. It is the same after a restart. */
export function nodeIdOf(config: Config): string {
	return createHash('sha256')
		.update(`${nodeNameOf(config)}\n${config.DATA_DIR}`)
		.digest('hex')
		.slice(0, 16);
}

/** Keeps the alerts of the node in the database, and sends what is due to whoever is told. One process of the node does so. */
export function openNotifications(node: ServiceNode, figures: Figures, { sender, open }: NotificationMeans): void {
	const { config, database, log, clock, metrics } = node;
	if (node.place.index !== 0) return;
	const nowMs = () => clock.nowMs();
	const { limits, ADMIN_URL: adminUrl } = config;
	// The surface listens later than this begins.
	const consoleUrl = () => adminUrl ?? (node.addresses['admin'] && originOf(node.addresses['admin']));
	const means = { sender, open, limits, metrics, log };
	const nodeName = nodeNameOf(config);
	const away = new AwayTeller({ ...means, node: nodeName, consoleUrl, nowMs });
	const recorder = new AlertRecorder({
		...{ database: database.people, nodeId: nodeIdOf(config), node: nodeName, endMs: limits.alertEndMs },
		...{ away, log, nowMs },
	});
	let recording: Promise<void> | undefined;
	const stop = figures.onPoint(() => {
		recording ??= recorder.record(figures.firing()).finally(() => {
			recording = undefined;
		});
	});
	const remember = away.remember.bind(away);
	const notifier = new Notifier({ ...means, database: database.people, consoleUrl, remember, nowMs });
	node.onClose(async () => {
		stop();
		await recording;
		await Promise.all([notifier.close(), away.close()]);
	});
}
