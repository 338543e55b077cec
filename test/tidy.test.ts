import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, matchesGlob, posix } from 'node:path';
import { describe, test } from 'node:test';
import { coverageMap } from './coverage-map.ts';
import { circlesOf, codeOf, importsOf } from './support/imports.ts';

/** The rules that ARCHITECTURE.md states of the source text. Its table of rooms is read from there. */

const root = new URL('..', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const files = (...patterns: string[]) => globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] }).sort();
const source = files('src/**/*.{ts,tsx,mjs}', 'workers/**/*.ts');

/** `src/fhir/date.ts` → `fhir`, `src/config.ts` → `config.ts`, `workers/ingest.ts` → `workers`. */
function roomOf(path: string): string {
	return (path.startsWith('src/') ? path.slice(4) : path).split('/')[0] ?? '';
}

/** Files under version control; empty where there is no git. */
function tracked(): string[] {
	try {
		const listing = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
		return listing.split('\n').filter((path) => path !== '' && existsSync(new URL(path, root)));
	} catch {
		return [];
	}
}

const imports = source.flatMap(importsOf);

/** The rooms of ARCHITECTURE.md with those that each may import. */
function roomTable(): Map<string, Set<string>> {
	const rows = [...read('ARCHITECTURE.md').matchAll(/^- `(?:src\/)?([^`]+)`: [\s\S]*?\n {2}Imports: ([^\n]*)\.$/gm)];
	return new Map(
		rows.map(([, room = '', list = '']) => [
			room,
			new Set(
				list
					.split(',')
					.map((word) => word.trim())
					.filter((word) => word !== 'nothing'),
			),
		]),
	);
}

function offending(paths: readonly string[], pattern: RegExp): string[] {
	return paths.filter((path) => pattern.test(codeOf(path)));
}

describe('rooms', () => {
	const table = roomTable();

	test('every room of src and workers has a row in ARCHITECTURE.md, and every row a room', () => {
		assert.deepEqual([...table.keys()].sort(), [...new Set(source.map(roomOf))].sort());
	});

	test('a room imports only what its row allows', () => {
		const against = imports.filter(({ from, to }) => {
			if (to === undefined || roomOf(to) === roomOf(from)) return false;
			return !table.get(roomOf(from))?.has(roomOf(to));
		});
		assert.deepEqual(
			against.map(({ from, specifier }) => `${from} → ${specifier}`),
			[],
		);
	});

	test('the table allows nothing that nobody imports', () => {
		const used = new Set(imports.map(({ from, to }) => `${roomOf(from)} → ${to === undefined ? '' : roomOf(to)}`));
		const idle = [...table]
			.flatMap(([room, allowed]) => [...allowed].map((other) => `${room} → ${other}`))
			.filter((pair) => !used.has(pair));
		assert.deepEqual(idle, []);
	});

	test('a relative import stays in its room; only files of src itself are reached by a path', () => {
		const leaving = imports.filter(
			({ from, specifier, to }) =>
				specifier.startsWith('.') &&
				to?.startsWith('src/') &&
				roomOf(to) !== roomOf(from) &&
				!/^src\/[^/]+$/.test(to) &&
				!/^src\/[^/]+$/.test(from),
		);
		assert.deepEqual(
			leaving.map(({ from, specifier }) => `${from} → ${specifier}`),
			[],
		);
	});

	test('no files import each other in a circle, not for types either', () => {
		assert.deepEqual(
			circlesOf(imports).map((circle) => circle.join(', ')),
			[],
		);
	});

	test('an import by # leaves its room', () => {
		const within = imports.filter(
			({ from, specifier, to }) => specifier.startsWith('#') && to !== undefined && roomOf(to) === roomOf(from),
		);
		assert.deepEqual(
			within.map(({ from, specifier }) => `${from} → ${specifier}`),
			[],
		);
	});

	test('a surface imports no other surface but http and tcp', () => {
		const surfaceOf = (path: string) => /^src\/surfaces\/([^/]+)\//.exec(path)?.[1];
		const crossing = imports.filter(({ from, to }) => {
			const [own, other] = [surfaceOf(from), to && surfaceOf(to)];
			return own !== undefined && other !== undefined && other !== own && other !== 'http' && other !== 'tcp';
		});
		assert.deepEqual(
			crossing.map(({ from, specifier }) => `${from} → ${specifier}`),
			[],
		);
	});

	test('every surface has a surface.ts, and the service opens it', () => {
		const folders = files('src/surfaces/*/').map((path) => basename(path));
		const opened = imports.filter(({ from, to }) => from === 'src/service.ts' && to?.endsWith('/surface.ts')).map(({ to }) => to);
		const expected = folders.filter((name) => name !== 'http' && name !== 'tcp').map((name) => `src/surfaces/${name}/surface.ts`);
		assert.deepEqual(opened.sort(), expected);
	});

	test('of other rooms the console takes types only: nothing of the service reaches a browser', () => {
		const valued = files('src/console/**/*.{ts,tsx}').filter((path) => /^import (?!type\b)[^;]*from '#/m.test(codeOf(path)));
		assert.deepEqual(valued, []);
	});

	for (const name of ['limits.ts', 'metrics.ts']) {
		test(`src/${name} collects the ${name} of every room, which imports only core and its like`, () => {
			const declared = source.filter((path) => /^src\/.+\//.test(path) && basename(path) === name);
			const collected = imports.filter(({ from, to }) => from === `src/${name}` && to?.endsWith(`/${name}`)).map(({ to }) => to);
			assert.deepEqual(collected.sort(), declared);
			const beyond = imports.filter(
				({ from, to = '' }) => declared.includes(from) && !to.startsWith('src/core/') && !declared.includes(to),
			);
			assert.deepEqual(
				beyond.map(({ from, specifier }) => `${from} → ${specifier}`),
				[],
			);
		});
	}

	test('every imported file exists', () => {
		const missing = imports.filter(({ to }) => to !== undefined && !existsSync(new URL(to, root)));
		assert.deepEqual(
			missing.map(({ from, specifier }) => `${from} → ${specifier}`),
			[],
		);
	});

	test('every file of src is reached from a script of package.json or a worker', () => {
		const reached = new Set<string>();
		const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
		const started = Object.values(scripts).flatMap((script) => [...script.matchAll(/\bsrc\/\S+/g)].map(([path]) => path));
		const page = 'src/console/index.html';
		const loaded = [...read(page).matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+\.tsx?)"/g)].map(([, path = '']) =>
			posix.join(dirname(page), path),
		);
		const waiting = [...started, ...loaded, ...files('workers/**/*.ts')];
		for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
			if (reached.has(path)) continue;
			reached.add(path);
			for (const { from, to } of imports) if (from === path && to !== undefined) waiting.push(to);
		}
		assert.deepEqual(
			// Declarations of packages without types are read by the compiler alone.
			source.filter((path) => !reached.has(path) && !path.endsWith('.d.ts')),
			[],
		);
	});
});

describe('source text', () => {
	const pure = files('src/{cda,fhir,hl7v2,hl7v3,mpps,dicom,record}/**/*.ts');
	const workers = files('workers/**/*.ts');

	test('formats and record do no I/O', () => {
		// They compute and touch nothing.
		const allowed = /^node:(crypto|buffer|util|zlib)$/;
		// It loads definitions that ship with it when the first is asked for, where others import theirs.
		const loads = 'src/fhir/profiles/bundled-source.ts → node:module';
		// Run by hand, they write source text; nothing imports them.
		const generators = ['src/fhir/validation/generate.ts', 'src/fhir/profiles/generate.ts', 'src/dicom/generate.ts'];
		const impure = imports.filter(
			({ from, specifier }) =>
				pure.includes(from) && !generators.includes(from) && specifier.startsWith('node:') && !allowed.test(specifier),
		);
		assert.deepEqual(
			impure.map(({ from, specifier }) => `${from} → ${specifier}`),
			[loads],
		);
	});

	test('formats, record and workers know no clock, no chance and no process', () => {
		const held = [...pure, ...workers];
		assert.deepEqual(offending(held, /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b/), []);
		assert.deepEqual(offending(held, /\bMath\.random\b|\brandomBytes\b|\brandomUUID\b/), []);
		assert.deepEqual(offending(held, /(?<![.\w#])process\.|\bset(Timeout|Interval|Immediate)\(/), []);
	});

	test('workers only hand on what their thread is given', () => {
		const others = imports.filter(
			({ from, specifier, to }) => workers.includes(from) && to === undefined && specifier !== 'node:worker_threads',
		);
		assert.deepEqual(
			others.map(({ from, specifier }) => `${from} → ${specifier}`),
			[],
		);
	});

	test('the environment is read in src/config.ts alone', () => {
		assert.deepEqual(offending(source, /\bprocess\.env\b/), ['src/config.ts']);
	});

	test('nothing is written to the console but by the entry', () => {
		assert.deepEqual(offending(source, /(?<![.\w])console\./), ['src/start.mjs']);
	});

	test('no source file has more than 388 lines, and no other file more than 400', () => {
		const long = files('{src,workers,test,bench,migrations}/**/*.{ts,tsx,mjs,c}')
			// Generated from the specification.
			.filter((path) => !path.startsWith('src/fhir/validation/schemas/'))
			.filter((path) => read(path).split('\n').length - 1 > (/^(src|workers)\//.test(path) ? 388 : 400));
		assert.deepEqual(long, []);
	});

	test('no file or folder is named after nothing in particular', () => {
		const vague = /^(utils?|helpers?|managers?|misc|common|shared)$/;
		const named = tracked().filter((path) => path.split('/').some((part) => vague.test(basename(part).split('.')[0] ?? '')));
		assert.deepEqual(named, []);
	});
});

describe('tests', () => {
	const testOf = (name: string) => (name.endsWith('.ts') ? `test/${name}` : `test/${name}.test.ts`);
	const mirrorOf = (path: string) => path.replace(/^src\//, 'test/').replace(/\.(tsx?|mjs)$/, '.test.ts');
	const decides = source.filter((path) => read(path).split('\n').length - 1 > 60 && !path.startsWith('src/demo/'));
	const without = decides.filter((path) => !existsSync(new URL(mirrorOf(path), root)));

	test('every source file of more than 60 lines has a test of its name, or a row in test/coverage-map.ts', () => {
		const unnamed = without.filter((path) => !coverageMap.some(([pattern]) => matchesGlob(path, pattern)));
		assert.deepEqual(unnamed, []);
	});

	test('every row of test/coverage-map.ts is about some file, and names tests that there are', () => {
		const idle = coverageMap.filter(([pattern]) => !source.some((path) => matchesGlob(path, pattern)));
		assert.deepEqual(idle, []);
		const missing = coverageMap.flatMap(([, ...tests]) => tests.map(testOf)).filter((path) => !existsSync(new URL(path, root)));
		assert.deepEqual(missing, []);
	});
});

describe('SQL', () => {
	/** These rows belong to no site. */
	const siteless = ['src/storage/statements/insert-unmatched.ts'];

	test('every statement outside administrative/ names the site', () => {
		const statements = files('src/storage/{statements,holdings}/*.ts', 'src/storage/resource-rows.ts').filter(
			(path) => !siteless.includes(path),
		);
		const without = statements.flatMap((path) =>
			[...codeOf(path).matchAll(/`([^`]*)`/g)]
				.map(([, text = '']) => text)
				.filter((text) => /^\s*(select|insert into|update|delete from|with)\b/.test(text))
				// A condition that is put in is itself a text of the same file, or starts with the site (`whereOf`).
				.filter((text) => !/\bsite_id\b|\$\{(where|whereOf\(|condition\[)/.test(text))
				.map((text) => `${path}: ${text.trim().split('\n')[0]}`),
		);
		assert.deepEqual(without, []);
	});

	test('connections to the database are opened by src/storage/database.ts alone, with the clients of database-hosts.ts', () => {
		const others = source.filter((path) => path !== 'src/storage/database-hosts.ts');
		assert.deepEqual(offending(others, /\bnew (pg\.)?(Client|Pool)\(|\bpg\.(connect|native)\b/), []);
	});

	test('a statement that administration carries out stands in a file of statements', () => {
		const raw = /\.execute\(|\.query\(\s*['"`]|\b(insert into|delete from|update \w+ set)\b/;
		assert.deepEqual(offending(files('src/{administration,access,cli}/**/*.ts'), raw), []);
	});

	test('a migration that drops or empties something says so by a comment `-- drops:`', () => {
		const silent = files('migrations/*.ts').filter((path) => {
			const text = read(path);
			return /\bdrop\s+(table|column|schema)\b|\btruncate\b/i.test(text) && !text.includes('-- drops:');
		});
		assert.deepEqual(silent, []);
	});
});

describe('the repository', () => {
	test('names no machine and no registry', (context) => {
		const listed = tracked();
		if (listed.length === 0) return context.skip('not a git checkout');
		const revealing = /(?:^|[\s'"`(=:])\/(?:work|home|root|Users)\/|registry\.npmjs|npm\.pkg\.github|[Cc]o-[Aa]uthored-[Bb]y:/m;
		const texts = listed.filter((path) => path !== 'test/tidy.test.ts' && /\.(ts|mjs|js|json|md|ya?ml|sh|c)$|^[^.]+$|^\.ci\//.test(path));
		assert.deepEqual(
			texts.filter((path) => revealing.test(read(path))),
			[],
		);
	});
});
