import { createHash } from 'node:crypto';
import type { NotificationMeans } from '#alerts/means.ts';
import { Notifier } from '#alerts/notifier.ts';
import { AlertRecorder } from '#alerts/recorder.ts';
import { type Config, nodeNameOf } from '../../config.ts';
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
	const { limits, ADMIN_URL: consoleUrl } = config;
	const recorder = new AlertRecorder({
		...{ database: database.people, nodeId: nodeIdOf(config), node: nodeNameOf(config), endMs: limits.alertEndMs },
		...{ log, nowMs },
	});
	let recording: Promise<void> | undefined;
	const stop = figures.onPoint(() => {
		recording ??= recorder.record(figures.firing()).finally(() => {
			recording = undefined;
		});
	});
	const notifier = new Notifier({ database: database.people, sender, open, consoleUrl, limits, metrics, log, nowMs });
	node.onClose(async () => {
		stop();
		await recording;
		await notifier.close();
	});
}
