import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** An installed binary of uWebSockets.js beside the one that its author published for the same version and system. */
export interface BinaryComparison {
	/** `@uwsjs/linux-x64-22 20.69.0` */
	name: string;
	/** The installed file. */
	installed: string;
	/** The path at which the author's file is expected. */
	published: string;
	/** SHA-256 of the installed file. */
	sha256: string;
	outcome: 'same' | 'differs' | 'absent';
}

const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The number of the binary interface of each release of Node.js, by which the author names his files (nodejs.org, "Previous releases"). */
const abi: Readonly<Record<string, string>> = { '18': '108', '20': '115', '22': '127', '23': '131', '24': '137', '26': '147' };

/**
 * Compares every installed binary with those of a folder. The packages `@uwsjs/…` are a third party's; the author publishes his files on GitHub.
 * @param folder a checkout of the author's release (a tag of github.com/uNetworking/uWebSockets.js)
 */
export function compareBinaries(folder: string): BinaryComparison[] {
	const require = createRequire(import.meta.url);
	return ['uWebSockets.js', 'uWebSockets.js-glibc-2.27'].flatMap((alias) => {
		const description = join(dirname(realpathSync(require.resolve(alias))), 'package.json');
		const { version, optionalDependencies } = JSON.parse(readFileSync(description, 'utf8')) as {
			version: string;
			optionalDependencies: Record<string, string>;
		};
		const from = createRequire(description);
		return Object.keys(optionalDependencies).flatMap((name): BinaryComparison[] => {
			const installed = installedBinary(from, name);
			if (installed === undefined) return [];
			const [, system = '', processor = '', major = ''] = /^@uwsjs\/(\w+)-(\w+)-(\d+)$/.exec(name) ?? [];
			const published = join(folder, `uws_${system}_${processor}_${abi[major]}.node`);
			const digest = sha256(installed);
			const outcome = !existsSync(published) ? 'absent' : sha256(published) === digest ? 'same' : 'differs';
			return [{ name: `${name} ${version}`, installed, published, sha256: digest, outcome }];
		});
	});
}

/** @returns the binary of a package, or undefined where npm has not installed it, since it is for another system */
function installedBinary(from: NodeJS.Require, name: string): string | undefined {
	try {
		return join(dirname(from.resolve(`${name}/package.json`)), 'uws.node');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
		throw error;
	}
}
