import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

/** `npm run bench -- <name>...`; each benchmark prints its own lines under one description of the machine. */
const benches: Readonly<Record<string, () => Promise<{ run(): Promise<unknown> }>>> = {
	mllp: () => import('./load/mllp.ts'),
	'c-store': () => import('./load/c-store.ts'),
	mpps: () => import('./load/mpps.ts'),
	fhir: () => import('./load/fhir.ts'),
	'fhir-bundles': () => import('./load/fhir-bundles.ts'),
	'hl7-http': () => import('./load/hl7-http.ts'),
	'hl7-parse': () => import('./micro/hl7-parse.ts'),
	'hl7v3-parse': () => import('./micro/hl7v3-parse.ts'),
	keys: () => import('./micro/keys.ts'),
	compare: () => import('./compare.ts'),
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(benches, name));
if (names.length === 0 || unknown.length > 0) {
	console.error(`usage: npm run bench -- ${Object.keys(benches).join(' | ')}`);
	process.exit(2);
}
const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout?.trim();
console.log(
	`${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, commit ${commit || 'unknown'}`,
);
console.log(`command: npm run bench -- ${names.join(' ')}\n`);
for (const name of names) {
	const bench = benches[name];
	if (bench) await (await bench()).run();
}
