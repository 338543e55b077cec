/**
 * Runs tests: `npm test -- [options] [files or folders…]`; without paths all of them.
 *
 *   -t, --test-name-pattern <pattern>   only the tests whose name matches
 *   --inspect                           one file, in a process that waits for a debugger
 *   --pure                              only the files that need neither a database nor a process of the service
 *   --stripped                          without tsx, as production runs; only pure files
 *   --coverage, --raise                 stripped, and measures coverage: less than test/coverage.json says fails; the second raises that
 *   --slowest                           prints which files took longest
 *   --fuzz=<times>                      the generative tests, so many times as much, from another seed each time unless FUZZ_SEED gives it
 *   --update-schema                     writes test/storage/schema.sql anew
 *
 * Files that need a database share an embedded one, in which each makes databases of its own from the migrated template. It is not
 * started for files that need none. Everything is removed at the end.
 *
 * Most of what a small file costs is to load the product, so a process runs a lot of files. With a pattern each file has a process.
 *
 * A few files that failed among hundreds are run once more, each alone. One that passes there does not fail the run, whose end names it:
 * it is a defect of the test or of the product that has to be found, and a run that fails for good would only hide the others.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { collectionFlag } from '../src/core/collection.ts';
import { bundleWorkers } from './support/bundled-workers.ts';
import { coverageOf, holdsFloor } from './support/coverage.ts';
import { isPure, usesDatabase } from './support/imports.ts';
import { lotsOf, moduleOf } from './support/lots.ts';
import { againOf, expectedOf, slowestOf, summaryOf } from './support/summary.ts';

const root = join(import.meta.dirname, '..');
const { values: options, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		'test-name-pattern': { type: 'string', short: 't' },
		inspect: { type: 'boolean', default: false },
		pure: { type: 'boolean', default: false },
		stripped: { type: 'boolean', default: false },
		coverage: { type: 'boolean', default: false },
		raise: { type: 'boolean', default: false },
		slowest: { type: 'boolean', default: false },
		fuzz: { type: 'string', default: '1' },
		'update-schema': { type: 'boolean', default: false },
	},
});
const fuzzTimes = Number(options.fuzz);
const measures = options.coverage || options.raise;
const isStripped = options.stripped || measures;
const expected = expectedOf(process.env.TRIBUTARY_EXPECT);

function refuse(reason) {
	console.error(reason);
	process.exit(2);
}

function chosenFiles() {
	const missing = positionals.filter((path) => !existsSync(path));
	if (missing.length > 0) refuse(`no such file or folder: ${missing.join(', ')}`);
	const chosen = (positionals.length > 0 ? positionals : [join(root, 'test')])
		.flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.test.ts`) : [path]))
		.map((path) => relative(root, resolve(path)))
		.filter((path) => positionals.length > 0 || fuzzTimes === 1 || readFileSync(join(root, path), 'utf8').includes('support/fuzzing.ts'));
	return [...new Set(chosen)].sort();
}

/**
 * Returns the folder for the shared database. It is in memory if there is enough, because each of several hundred databases is a copy of a
 * thousand files, which takes a tenth of the processor time that it takes on a disk. Databases of services have to outlive these and are on disk.
 */
function folderOfDatabase() {
	const inMemory = '/dev/shm';
	const needed = 6 * 2 ** 30;
	if (!existsSync(inMemory) || freemem() < needed) return tmpdir();
	const { bavail, bsize } = statfsSync(inMemory);
	return bavail * bsize < needed ? tmpdir() : inMemory;
}

/** The embedded database with its template; undefined where nothing needs it. */
async function startDatabase() {
	const { startEmbeddedDatabase } = await import('../src/storage/embedded/embedded-database.ts');
	const { createTemplate, templateName, urlOf } = await import('./support/template.ts');
	const dataDir = mkdtempSync(join(folderOfDatabase(), 'tributary-test-'));
	chmodSync(dataDir, 0o755);
	const server = await startEmbeddedDatabase({
		dataDir,
		settings: { fsync: 'off', full_page_writes: 'off', max_connections: '400', shared_buffers: '128MB' },
	});
	const stop = async () => {
		await server.stop();
		rmSync(dataDir, { recursive: true, force: true });
	};
	try {
		await createTemplate(server.url);
		if (options['update-schema']) {
			const { schemaOf } = await import('./support/schema.ts');
			writeFileSync(join(root, 'test/storage/schema.sql'), await schemaOf(urlOf(server.url, templateName)));
		}
	} catch (error) {
		await stop();
		throw error;
	}
	return { url: server.url, stop };
}

/** Whoever ends the run still gets its database ended and its files removed. */
let child;
let ending;
for (const signal of ['SIGINT', 'SIGTERM']) {
	process.on(signal, () => {
		ending = signal;
		child?.kill(signal);
	});
}

function runNode(parameters, environment) {
	if (ending) return Promise.resolve(1);
	return new Promise((resolve, reject) => {
		child = spawn(process.execPath, parameters, { cwd: root, stdio: 'inherit', env: { ...process.env, TZ: 'UTC', ...environment } });
		child.once('error', reject);
		child.once('exit', (code) => resolve(code ?? 1));
	});
}

/** A test waits for a socket, a timer or the disk for half of its time, so twice as many run as there are cores. More would want much memory. */
const concurrency = Math.min(4, availableParallelism() * 2);

/** What never ends is ended. No test has a limit of its own: a machine may be many times slower than another. */
const fileMsMax = 600_000 * fuzzTimes;

/** Each of these has a process of its own. */
const isByFile = options.inspect || options['test-name-pattern'] !== undefined;

/** Deals the files out, those that need a database first. */
function lotsOfAll(paths) {
	return [true, false].flatMap((needsServer) =>
		lotsOf(
			paths.filter((path) => isPure(path) !== needsServer),
			concurrency,
		),
	);
}

/** Writes the modules that run the lots; returns the files of each by the path of its module. */
function modulesIn(directory, lots) {
	return new Map(
		lots.map((lot, index) => {
			const path = join(directory, `lot-${String(index).padStart(3, '0')}.mjs`);
			writeFileSync(path, moduleOf(lot, root, fileMsMax));
			return [path, lot];
		}),
	);
}

/** `modules`: the files of the tests, or the modules that run several, with the files of each. */
function parametersOf(modules, outcomesPath, processes) {
	const loader = isStripped ? [] : ['--import', pathToFileURL(join(import.meta.dirname, 'support/loading.mjs')).href];
	const pattern = options['test-name-pattern'] === undefined ? [] : [`--test-name-pattern=${options['test-name-pattern']}`];
	if (options.inspect) return [...loader, ...pattern, '--inspect-brk', ...modules.keys()];
	// Both repeat at the end what failed, where it is found among some thousands that passed; spec would list the coverage of each file.
	const reporters = [measures ? 'dot' : 'spec', 'stdout', join(import.meta.dirname, 'support/outcomes.ts'), outcomesPath].map(
		(value, index) => (index % 2 === 0 ? `--test-reporter=${value}` : `--test-reporter-destination=${value}`),
	);
	const filesMax = Math.max(...[...modules.values()].map(({ length }) => length));
	const timeout = `--test-timeout=${Math.min(fileMsMax * filesMax, 2 ** 31 - 1)}`;
	const coverage = measures ? ['--experimental-test-coverage', '--test-coverage-include=src/**', '--test-coverage-include=workers/**'] : [];
	return [
		...loader,
		collectionFlag,
		...coverage,
		...pattern,
		'--test',
		...reporters,
		`--test-concurrency=${processes}`,
		timeout,
		...modules.keys(),
	];
}

/** Runs the modules; its outcomes, and whether node:test calls it passed. */
async function run(modules, processes, outcomesPath, environment) {
	const status = await runNode(parametersOf(modules, outcomesPath, processes), environment);
	const lines = existsSync(outcomesPath) ? readFileSync(outcomesPath, 'utf8').split('\n') : [];
	return { outcomes: lines.filter((line) => line !== '').map((line) => JSON.parse(line)), passed: status === 0 };
}

/** Prints the end of a run of these files; whether it may count as passed. */
function conclude({ outcomes, passed }, paths) {
	if (ending) console.log(`the run was ended by ${ending}: what was under way counts as failed, as if nothing had kept its process`);
	const summary = summaryOf(outcomes, expected, paths);
	for (const line of summary.lines) console.log(line);
	return passed && summary.ok;
}

/** Runs once more what failed among others; whether it passes alone. */
async function runAgain(first, modules, directory, environment) {
	const lots = new Map([...modules].map(([path, lot]) => [basename(path), lot]));
	// A test that did not use what the machine has would not use it in a second run.
	const lacks = !summaryOf(
		first.outcomes.filter(({ kind }) => kind === 'skipped'),
		expected,
	).ok;
	const again = isByFile || ending || lacks ? [] : againOf(first.outcomes, lots);
	if (again.length === 0) return false;
	console.log(`\nonce more, each alone: ${again.join(', ')}\n`);
	const alone = mkdtempSync(join(directory, 'again-'));
	const one = modulesIn(
		alone,
		again.map((file) => [file]),
	);
	if (!conclude(await run(one, 1, join(alone, 'outcomes.jsonl'), environment), again)) return false;
	console.log('\nPASSED, but not at once. These failed among others and passed alone, which is a defect to be found:');
	for (const file of again) console.log(`    ${file}`);
	return true;
}

if (!(fuzzTimes >= 1)) refuse('--fuzz takes a number from 1 on');
const files = chosenFiles().filter((path) => !(options.pure || isStripped) || isPure(path));
if (options.inspect && files.length !== 1) refuse('--inspect takes one file');
if (files.length === 0) refuse('none of these files is a test that can run this way');

const directory = mkdtempSync(join(tmpdir(), 'tributary-run-'));
let database;
try {
	if (options['update-schema'] || files.some(usesDatabase)) database = await startDatabase();
	const modules = isByFile ? new Map(files.map((file) => [file, [file]])) : modulesIn(directory, lotsOfAll(files));
	const environment = {
		...(database && { TRIBUTARY_TEST_DATABASE: database.url, TRIBUTARY_TEST_WORKERS: await bundleWorkers() }),
		TRIBUTARY_FUZZ_TIMES: String(fuzzTimes),
		// Half of what a file with a service costs is to compile the same modules again. Coverage needs them compiled anew.
		...(!measures && { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/tests') }),
	};
	const first = await run(modules, concurrency, join(directory, 'outcomes.jsonl'), environment);
	const { outcomes } = first;
	const passed = options.inspect ? first.passed : conclude(first, files) || (await runAgain(first, modules, directory, environment));
	if (options.slowest) for (const line of slowestOf(outcomes, 40)) console.log(line);
	const covers = !measures || holdsFloor(coverageOf(outcomes.filter(({ kind }) => kind === 'covered')), options.raise);
	process.exitCode = passed && covers ? 0 : 1;
} finally {
	await database?.stop();
	rmSync(directory, { recursive: true, force: true });
}
