/**
 * Parse and extract: every value that an ADT or ORU is mapped from, beside parsers from npm and a C program over
 * memchr. `node bench/micro/hl7-parse.ts [milliseconds]`; the peers: `npm install` in bench/peers, the C program: cc.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Message, type Segment } from '#hl7v2/message.ts';
import { messages } from '../corpus.ts';

/** The sum of the lengths of the values taken: it shows that all contenders read the same. */
type Extract = (bytes: Buffer) => number;

type Place = readonly [field: number, component: number];
const patientPlaces: readonly Place[] = [
	[3, 1],
	[3, 4],
	[3, 5],
	[5, 1],
	[5, 2],
	[5, 3],
	[7, 1],
	[8, 1],
	[11, 1],
	[11, 3],
	[11, 4],
	[11, 5],
	[13, 1],
	[14, 1],
];
const visitPlaces: readonly Place[] = [
	[2, 1],
	[3, 1],
	[7, 1],
	[7, 2],
	[19, 1],
];
const observationPlaces: readonly Place[] = [
	[2, 1],
	[3, 1],
	[3, 2],
	[3, 3],
	[5, 1],
	[6, 1],
	[7, 1],
	[8, 1],
	[11, 1],
	[14, 1],
];

function patientLength(pid: Segment): number {
	const identifier = pid.text(3).length + pid.text(3, 4).length + pid.text(3, 5).length;
	const name = pid.text(5).length + pid.text(5, 2).length + pid.text(5, 3).length;
	const address = pid.text(11).length + pid.text(11, 3).length + pid.text(11, 4).length + pid.text(11, 5).length;
	return identifier + name + pid.text(7).length + pid.text(8).length + address + pid.text(13).length + pid.text(14).length;
}

function visitLength(pv1: Segment): number {
	return pv1.text(2).length + pv1.text(3).length + pv1.text(7).length + pv1.text(7, 2).length + pv1.text(19).length;
}

function observationLength(obx: Segment): number {
	const code = obx.text(3).length + obx.text(3, 2).length + obx.text(3, 3).length;
	const value = obx.text(2).length + obx.text(5).length + obx.text(6).length;
	return code + value + obx.text(7).length + obx.text(8).length + obx.text(11).length + obx.text(14).length;
}

export const tributary: Extract = (bytes) => {
	const message = Message.parse(bytes);
	// The separator in ADT^A08 is nobody's value.
	let sum = message.messageType.length - 1 + message.controlId.length;
	const pid = message.first('PID');
	if (pid !== undefined) sum += patientLength(pid);
	const pv1 = message.first('PV1');
	if (pv1 !== undefined) sum += visitLength(pv1);
	for (const obx of message.all('OBX')) sum += observationLength(obx);
	return sum;
};

const require = createRequire(new URL('../peers/package.json', import.meta.url));

function installed(name: string): boolean {
	try {
		require.resolve(name);
		return true;
	} catch (error) {
		if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return false;
		throw error;
	}
}

/** What is used of node-hl7-client. */
interface ClientNode {
	get(path: string): ClientNode;
	toString(): string;
	forEach(visit: (node: ClientNode) => void): void;
}

async function nodeHl7Client(): Promise<Extract> {
	const library = (await import(pathToFileURL(require.resolve('node-hl7-client')).href)) as {
		Message: new (options: { text: string }) => ClientNode;
	};
	const repeating = new Set(['PID.3', 'PID.5']);
	const path = (id: string) => (place: Place) => `${id}.${place[0]}${repeating.has(`${id}.${place[0]}`) ? '[1]' : ''}.${place[1]}`;
	const pid = patientPlaces.map(path('PID'));
	const pv1 = visitPlaces.map(path('PV1'));
	const obx = observationPlaces.map(path(''));
	const length = (node: ClientNode) => (node.toString().split('&', 1)[0] ?? '').length;
	return (bytes) => {
		const text = bytes.toString();
		const message = new library.Message({ text });
		let sum = length(message.get('MSH.9.1')) + length(message.get('MSH.9.2')) + length(message.get('MSH.10'));
		for (const place of pid) sum += length(message.get(place));
		if (text.includes('\rPV1|')) for (const place of pv1) sum += length(message.get(place));
		if (text.includes('\rOBX|')) {
			message.get('OBX').forEach((segment) => {
				for (const place of obx) sum += length(segment.get(place));
			});
		}
		return sum;
	};
}

/** What is used of simple-hl7. */
interface SimpleSegment {
	getField(field: number, repetition?: number): string;
	getComponent(field: number, component: number): string;
}
interface SimpleMessage {
	header: SimpleSegment;
	getSegment(id: string): SimpleSegment | undefined;
	getSegments(id: string): SimpleSegment[];
}

function simpleHl7(): Extract {
	const library = require('simple-hl7') as {
		Parser: new (options: { segmentSeperator: string }) => { parse(text: string): SimpleMessage };
	};
	const parser = new library.Parser({ segmentSeperator: '\r' });
	const length = (value: string) => (value.split('&', 1)[0] ?? '').length;
	const patient = (segment: SimpleSegment) => {
		let sum = 0;
		for (const [field, component] of patientPlaces) {
			// It reads components of fields without repetitions only.
			const repeats = field === 3 || field === 5;
			sum += length(repeats ? (segment.getField(field, 1).split('^')[component - 1] ?? '') : segment.getComponent(field, component));
		}
		return sum;
	};
	return (bytes) => {
		const message = parser.parse(bytes.toString());
		const [code = '', event = ''] = message.header.getField(7).split('^');
		let sum = code.length + event.length + message.header.getField(8).length;
		const pid = message.getSegment('PID');
		if (pid !== undefined) sum += patient(pid);
		const pv1 = message.getSegment('PV1');
		if (pv1 !== undefined) for (const [field, component] of visitPlaces) sum += length(pv1.getComponent(field, component));
		for (const obx of message.getSegments('OBX')) {
			for (const [field, component] of observationPlaces) sum += length(obx.getComponent(field, component));
		}
		return sum;
	};
}

interface Figure {
	/** Messages per second. */
	rate: number;
	/** Of one round over the corpus. */
	sum: number;
}

function round(extract: Extract, corpus: readonly Buffer[]): number {
	let sum = 0;
	for (const bytes of corpus) sum += extract(bytes);
	return sum;
}

function measure(extract: Extract, corpus: readonly Buffer[], milliseconds: number): Figure {
	const warm = performance.now() + milliseconds / 3;
	let sum = 0;
	while (performance.now() < warm) sum = round(extract, corpus);
	const begin = performance.now();
	let rounds = 0;
	let elapsed = 0;
	while (elapsed < milliseconds) {
		round(extract, corpus);
		rounds += 1;
		elapsed = performance.now() - begin;
	}
	return { rate: (rounds * corpus.length * 1000) / elapsed, sum };
}

function measureC(corpus: readonly Buffer[], milliseconds: number): Figure | string {
	if (spawnSync('cc', ['--version']).status !== 0) return 'no C compiler';
	const folder = mkdtempSync(join(tmpdir(), 'hl7-parse-'));
	try {
		const program = join(folder, 'memchr');
		execFileSync('cc', ['-O2', '-o', program, join(import.meta.dirname, 'memchr.c')]);
		const framed = corpus.flatMap((bytes) => {
			const length = Buffer.alloc(4);
			length.writeUInt32LE(bytes.length);
			return [length, bytes];
		});
		writeFileSync(join(folder, 'messages'), Buffer.concat(framed));
		const output = execFileSync(program, [join(folder, 'messages'), String(milliseconds)], { encoding: 'utf8' });
		const [rate, sum] = output.trim().split(' ').map(Number);
		return { rate: rate ?? 0, sum: sum ?? 0 };
	} finally {
		rmSync(folder, { recursive: true });
	}
}

const absent = 'peer not installed: npm install in bench/peers';

export interface Result {
	corpus: string;
	contender: string;
	/** Messages per second, or why there is none. */
	rate: number | string;
	/** Tributary's rate is so many times this one. */
	ratio?: number;
}

/** Measures every contender on every corpus and prints a line for each. */
export async function run(milliseconds = 1000): Promise<Result[]> {
	const results: Result[] = [];
	console.log(`machine: ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}; node ${process.version}`);
	console.log(`command: node bench/micro/hl7-parse.ts ${milliseconds}`);
	const client = installed('node-hl7-client') ? await nodeHl7Client() : undefined;
	const simple = installed('simple-hl7') ? simpleHl7() : undefined;
	for (const [name, corpus] of [
		['ADT, 1.1 KB', messages('adt', 200)],
		['ORU with 20 OBX, 3.7 KB', messages('oru20', 200)],
	] as const) {
		const own = measure(tributary, corpus, milliseconds);
		const figures: [string, Figure | string][] = [
			['tributary', own],
			['node-hl7-client', client === undefined ? absent : measure(client, corpus, milliseconds)],
			['simple-hl7', simple === undefined ? absent : measure(simple, corpus, milliseconds)],
			['C memchr', measureC(corpus, milliseconds)],
		];
		for (const [contender, figure] of figures) {
			if (typeof figure === 'string') {
				results.push({ corpus: name, contender, rate: figure });
				console.log(`${name}  ${contender}: ${figure}`);
				continue;
			}
			const ratio = own.rate / figure.rate;
			const differs = figure.sum === own.sum ? '' : `  (reads ${figure.sum} characters, tributary ${own.sum})`;
			results.push({ corpus: name, contender, rate: figure.rate, ratio });
			console.log(
				`${name}  ${contender}: ${Math.round(figure.rate).toLocaleString('en')} msg/s, tributary × ${ratio.toFixed(2)}${differs}`,
			);
		}
	}
	return results;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await run(Number(process.argv[2] ?? 1000));
