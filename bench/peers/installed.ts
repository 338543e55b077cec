import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(new URL('package.json', import.meta.url));

/** The path by which a peer is imported; undefined when it is not installed. */
export function peerPath(name: string): string | undefined {
	try {
		return require.resolve(name);
	} catch (error) {
		if (error instanceof Error && 'code' in error && (error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND'))
			return undefined;
		throw error;
	}
}

/** A CommonJS peer. */
export function requirePeer(name: string): unknown {
	return require(name);
}

/** `npm install` in bench/peers, which the product's own lockfile knows nothing of. */
export function installPeers(): void {
	const folder = join(import.meta.dirname);
	const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'], {
		cwd: folder,
		stdio: 'inherit',
	});
	if (status !== 0) throw new Error('the peers of bench/peers could not be installed');
}
