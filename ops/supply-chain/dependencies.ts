import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One package, as the lockfile has it. */
export interface Dependency {
	name: string;
	version: string;
	/** SPDX expression of its package.json; undefined where the package states none there. */
	license: string | undefined;
	/** Digest of its archive (Subresource Integrity), by which `npm ci` refuses another one. */
	integrity: string | undefined;
	/** Only tests, benches and builds use it. */
	development: boolean;
	/** Systems and processors that it is for; empty: all. */
	platforms: readonly string[];
}

interface LockedPackage {
	version?: string;
	name?: string;
	license?: string;
	integrity?: string;
	dev?: boolean;
	devOptional?: boolean;
	os?: string[];
	cpu?: string[];
}

const root = join(import.meta.dirname, '../..');

/** `node_modules/a/node_modules/@b/c` → `@b/c`. */
function nameOf(path: string): string {
	return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/**
 * Every package of the lockfile, by name and version, each once.
 * @param text the lockfile's text, by default that of this checkout
 */
export function dependencies(text = readFileSync(join(root, 'package-lock.json'), 'utf8')): Dependency[] {
	const locked = (JSON.parse(text) as { packages: Record<string, LockedPackage> }).packages;
	const found = new Map<string, Dependency>();
	for (const [path, entry] of Object.entries(locked)) {
		if (path === '') continue;
		const name = entry.name ?? nameOf(path);
		const version = entry.version ?? '';
		const development = entry.dev === true || entry.devOptional === true;
		const known = found.get(`${name}@${version}`);
		found.set(`${name}@${version}`, {
			name,
			version,
			license: entry.license ?? known?.license,
			integrity: entry.integrity ?? known?.integrity,
			development: development && known?.development !== false,
			platforms: [...(entry.os ?? []), ...(entry.cpu ?? [])],
		});
	}
	return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1));
}
