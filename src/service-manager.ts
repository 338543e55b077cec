import { execFile } from 'node:child_process';
import type { Log } from '#core/log.ts';
import { environmentOfProcess, hasServiceManager } from './config.ts';

/**
 * Tells systemd, where it started this node (`Type=notify`), that the node is ready or is ending. Node.js cannot send datagrams to a Unix socket,
 * so systemd's own program does it. A node that cannot tell serves all the same; systemd ends it after TimeoutStartSec.
 */
export function tellServiceManager(state: 'ready' | 'stopping', log: Log): Promise<void> {
	if (!hasServiceManager()) return Promise.resolve();
	return new Promise((resolve) => {
		execFile('systemd-notify', [`--${state}`], { env: environmentOfProcess({}), timeout: 10_000 }, (error) => {
			if (error) log.warn({ err: error, state }, 'systemd could not be told');
			resolve();
		});
	});
}
