import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	chmodSync,
	cpSync,
	existsSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { writeBuilt } from '#surfaces/admin/console-bundle.ts';
import { additions, manifestOf, packagesOf, productionPackages, sources, unread } from './contents.ts';

/** A tarball that was made, with sizes in bytes. */
export interface Packaged {
	archive: string;
	sha256: string;
	/** The packages that `npm ci --omit=dev` would install. */
	productionBytes: number;
	packageBytes: number;
	/** The whole tree, unpacked. */
	treeBytes: number;
	archiveBytes: number;
}

/**
 * Makes `<into>/tributary-<version>.tar.gz` from a checkout in which `npm ci` was run: the product, the packages that it needs when it runs on this
 * system and processor, and the console as it is served. The same checkout makes the same bytes.
 */
export async function makePackage(
	root: string,
	into: string,
	{ withEmbedded = false }: { withEmbedded?: boolean } = {},
): Promise<Packaged> {
	mkdirSync(into, { recursive: true });
	const staging = mkdtempSync(join(into, '.making-'));
	try {
		const manifest = manifestOf(root, { withEmbedded });
		const name = `tributary-${manifest['version']}`;
		const tree = join(staging, name);
		const console = join(root, 'src/console');
		for (const path of [...sources, ...additions]) copy(root, tree, path, (from) => !from.startsWith(`${console}/`));
		copy(root, tree, 'src/console/index.html');
		await writeBuilt(join(console, 'index.html'), join(tree, 'src/console/built'));
		const packages = packagesOf(root, { withEmbedded });
		for (const path of packages) copy(root, tree, path, (from) => !unread.test(from) && !isNested(join(root, path), from));
		installProgram(root, tree);
		writeFileSync(join(tree, 'package.json'), `${JSON.stringify(manifest, null, '\t')}\n`);
		const archive = join(into, `${name}.tar.gz`);
		pack(staging, name, `${archive}.new`, commitTime(root));
		renameSync(`${archive}.new`, archive);
		const sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex');
		writeFileSync(`${archive}.sha256`, `${sha256}  ${basename(archive)}\n`);
		return {
			archive,
			sha256,
			productionBytes: sum(productionPackages(root).map((path) => bytesOf(join(root, path), true))),
			packageBytes: bytesOf(join(tree, 'node_modules')),
			treeBytes: bytesOf(tree),
			archiveBytes: lstatSync(archive).size,
		};
	} finally {
		rmSync(staging, { recursive: true, force: true });
	}
}

function copy(root: string, tree: string, path: string, takes: (from: string) => boolean = () => true): void {
	mkdirSync(dirname(join(tree, path)), { recursive: true });
	cpSync(join(root, path), join(tree, path), { recursive: true, verbatimSymlinks: true, filter: takes });
}

/** The command line as people, cron and scripts call it: `bin/tributary`. */
function installProgram(root: string, tree: string): void {
	const program = join(tree, 'bin/tributary');
	mkdirSync(dirname(program));
	cpSync(join(root, 'ops/package/tributary.sh'), program);
	chmodSync(program, 0o755);
}

/** Packages within a package have a row of their own in the lockfile. */
function isNested(folder: string, from: string): boolean {
	return relative(folder, from).split('/')[0] === 'node_modules';
}

function pack(staging: string, name: string, archive: string, seconds: string): void {
	const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX,go-w', `--mtime=@${seconds}`];
	execFileSync('tar', [...same, '--use-compress-program=gzip -n -6', '-cf', archive, '-C', staging, name], { stdio: 'pipe' });
}

/** The moment of the commit, so that the archive does not depend on when it is made. */
function commitTime(root: string): string {
	if (!existsSync(join(root, '.git'))) return '0';
	return execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim();
}

function bytesOf(path: string, withoutNested = false): number {
	const found = lstatSync(path);
	if (!found.isDirectory()) return found.size;
	return sum(readdirSync(path).map((name) => (withoutNested && name === 'node_modules' ? 0 : bytesOf(join(path, name)))));
}

function sum(numbers: readonly number[]): number {
	return numbers.reduce((total, each) => total + each, 0);
}
