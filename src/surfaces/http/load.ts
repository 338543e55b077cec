import type * as Uws from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { admitHeads } from '../../config.ts';

export type { HttpResponse, TemplatedApp } from 'uWebSockets.js';

interface Packaging {
	name: string;
	/** The system library that its binaries need. */
	needs: string;
}

/** The newer one comes first. Its binaries need a newer C library than many hospitals' systems have. */
const packagings: readonly Packaging[] = [
	{ name: 'uWebSockets.js', needs: 'Node 22, 24 or 26 and glibc ≥ 2.38 (Debian 13, Ubuntu 24.04)' },
	{ name: 'uWebSockets.js-glibc-2.27', needs: 'Node 22 and glibc ≥ 2.27 (Debian 12, RHEL 8 and 9)' },
];

export interface LoadedServer {
	uws: typeof Uws;
	/** The package version that was loaded. */
	version: string;
}

let loaded: LoadedServer | undefined;

/**
 * Loads the HTTP server library that this machine can run.
 * @throws Error that names the machine and what would work, when none loads
 */
export function loadServer(): LoadedServer {
	loaded ??= load();
	return loaded;
}

/**
 * Twice the largest HTTP_HEADER_BYTES_MAX, so that this service itself refuses a head that is too long, in the words of its surface. Each
 * connection may hold as much while its head arrives.
 */
const headBytesMax = 131_072;

function load(): LoadedServer {
	admitHeads(headBytesMax);
	const require = createRequire(import.meta.url);
	const reasons: string[] = [];
	for (const { name, needs } of packagings) {
		try {
			const uws = require(name) as typeof Uws;
			return { uws, version: versionOf(require.resolve(name)) };
		} catch (error) {
			reasons.push(`  ${name}: needs ${needs}; ${reasonOf(error)}`);
		}
	}
	const report = process.report.getReport() as unknown as { header?: { glibcVersionRuntime?: string } };
	const libc = report.header?.glibcVersionRuntime ? `glibc ${report.header.glibcVersionRuntime}` : 'no glibc';
	throw new Error(
		`uWebSockets.js does not load on this machine (${process.platform} ${process.arch}, Node ${process.versions.node}, ABI ${process.versions.modules}, ${libc}):\n${reasons.join('\n')}`,
	);
}

/**
 * Says why a packaging does not load. The packager's own sentence comes first in the message, then the cause, and behind a file that is missing who
 * asked for it.
 */
export function reasonOf(error: unknown): string {
	const lines = String(error instanceof Error ? error.message : error).split('\n');
	const cause = lines.findLast((line) => line.startsWith('Error: ')) ?? lines[0] ?? '';
	const binary = /Cannot find module '(@uwsjs\/[^']+)'/.exec(cause)?.[1];
	if (binary === undefined) return cause;
	return `${binary} is not installed: npm ci installs the binary for the Node.js that runs it`;
}

function versionOf(entry: string): string {
	return (JSON.parse(readFileSync(join(dirname(entry), 'package.json'), 'utf8')) as { version: string }).version;
}
