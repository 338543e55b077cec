import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { billOfMaterials } from '../../ops/supply-chain/bill-of-materials.ts';
import { dependencies } from '../../ops/supply-chain/dependencies.ts';
import { admitted, licenceOf, licencesText } from '../../ops/supply-chain/licences-text.ts';
import { compareBinaries } from '../../ops/supply-chain/uws-binaries.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Packages for other systems whose digests could not be fetched when the lockfile was written, by beginning and version. `npm ci` does not
 * install them on the systems on which this suite runs. Whoever regenerates the lockfile where they can be had takes them out here.
 */
const withoutDigest: Readonly<Record<string, string>> = {
	'@biomejs/cli-* 2.6.8': 'android-arm64 android-x64 darwin-arm64 darwin-x64 linux-arm64-musl linux-x64-musl win32-arm64 win32-x64',
	'@oxc-parser/binding-* 0.156.0':
		'android-arm-eabi android-arm64 darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm-musleabihf linux-ppc64-gnu linux-riscv64-gnu linux-riscv64-musl linux-s390x-gnu openharmony-arm64 win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
	'@uwsjs/* 20.51.4':
		'darwin-arm64-18 darwin-arm64-20 darwin-arm64-22 darwin-arm64-23 darwin-x64-18 darwin-x64-20 darwin-x64-22 darwin-x64-23 linux-arm-18 linux-arm-20 linux-arm-22 linux-arm-23 linux-arm64-18 linux-arm64-20 linux-arm64-22 linux-arm64-23 win32-x64-18 win32-x64-20 win32-x64-22 win32-x64-23',
	'@uwsjs/* 20.69.0':
		'darwin-arm64-22 darwin-arm64-24 darwin-arm64-26 darwin-x64-22 darwin-x64-24 darwin-x64-26 linux-arm64-22 linux-arm64-24 linux-arm64-26 win32-x64-22 win32-x64-24 win32-x64-26',
};

const all = dependencies();
const product = all.filter(({ development }) => !development);

describe('the lockfile', () => {
	test('has the digest of every package, but for those of other systems that are named here', () => {
		const named = Object.entries(withoutDigest).flatMap(([pattern, parts]) => {
			const [start = '', version = ''] = pattern.split('* ');
			return parts.split(' ').map((part) => `${start}${part} ${version}`);
		});
		const missing = all.filter(({ integrity }) => integrity === undefined);
		assert.deepEqual(missing.map(({ name, version }) => `${name} ${version}`).sort(), named.sort());
		assert.deepEqual(
			missing.filter(({ name, platforms }) => platforms.length === 0 || (platforms.join() === 'linux,x64' && !name.endsWith('-musl'))),
			[],
			'a package without a digest would be installed here',
		);
	});

	test('names no registry, and has only SHA-512 digests', () => {
		assert.doesNotMatch(readFileSync(join(root, 'package-lock.json'), 'utf8'), /"resolved"/);
		assert.deepEqual(
			all.filter(({ integrity }) => integrity !== undefined && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)),
			[],
		);
	});

	test('installs what package.json names, each in one exact version', () => {
		const { dependencies: direct, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
		const loose = Object.entries({ ...direct, ...devDependencies }).filter(
			([, version]) => !/^(npm:@[^@]+@)?\d+\.\d+\.\d+[\w.-]*$/.test(String(version)),
		);
		assert.deepEqual(loose, []);
	});
});

describe('licences', () => {
	test('every package of the product has one that permits its use here', () => {
		assert.deepEqual(
			product.filter((dependency) => !admitted.has(licenceOf(dependency) ?? '')).map(({ name, license }) => `${name}: ${license}`),
			[],
		);
	});

	test('docs/licences.md is current: npm run licences', () => {
		assert.equal(readFileSync(join(root, 'docs/licences.md'), 'utf8'), licencesText(all));
	});
});

describe('the bill of materials', () => {
	test('is CycloneDX, and lists every package of the product with its digest, its licence and what it carries', () => {
		const bill = billOfMaterials();
		assert.deepEqual([bill.bomFormat, bill.metadata.component.name], ['CycloneDX', 'tributary']);
		const listed = new Map(bill.components.map((component) => [decodeURIComponent(component.purl ?? ''), component]));
		for (const { name, version, integrity } of product) {
			const component = listed.get(`pkg:npm/${name}@${version}`);
			assert.ok(component?.licenses, `${name} ${version} is not listed with a licence`);
			assert.equal(component['hashes'] !== undefined, integrity !== undefined, `${name}: digest`);
		}
		const carried = bill.components.filter(({ purl }) => purl === undefined).map(({ name, version }) => `${name} ${version}`);
		assert.deepEqual(carried.sort(), [
			'PostgreSQL 18.4',
			'uWebSockets.js (binaries of its author) 20.51.4',
			'uWebSockets.js (binaries of its author) 20.69.0',
		]);
	});
});

describe("the check of uWebSockets.js against its author's release", () => {
	const script = join(root, 'ops/supply-chain/verify-uws.ts');
	const verify = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' }).status;

	test('passes for the same bytes only', () => {
		const folder = mkdtempSync(join(tmpdir(), 'uws-'));
		try {
			const [first, ...others] = compareBinaries(folder);
			assert.ok(first, 'no binary is installed');
			assert.deepEqual([first.outcome, ...others.map(({ outcome }) => outcome)], ['absent', ...others.map(() => 'absent')]);
			assert.equal(verify(folder), 1);
			copyFileSync(first.installed, first.published);
			assert.equal(compareBinaries(folder)[0]?.outcome, 'same');
			appendFileSync(first.published, '\0');
			assert.equal(compareBinaries(folder)[0]?.outcome, 'differs');
			assert.equal(verify(folder), 1);
			assert.equal(verify(), 2);
		} finally {
			rmSync(folder, { recursive: true });
		}
	});
});
