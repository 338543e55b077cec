/**
 * Parse and extract: every value that an ADT or ORU is mapped from, beside parsers from npm and a C program over memchr. The parsers from
 * npm are measured where they are installed (`--peers`), the C program where there is a compiler.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Message, type Segment } from '#hl7v2/message.ts';
import { messages } from '../corpus.ts';
import { peerPath, requirePeer } from '../peers/installed.ts';
import { middle, type SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';

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

/** What is used of node-hl7-client. */
interface ClientNode {
	get(path: string): ClientNode;
	toString(): string;
	forEach(visit: (node: ClientNode) => void): void;
}

async function nodeHl7Client(path: string): Promise<Extract> {
	const library = (await import(pathToFileURL(path).href)) as {
		Message: new (options: { text: string }) => ClientNode;
	};
	const repeating = new Set(['PID.3', 'PID.5']);
	const placeOf = (id: string) => (place: Place) => `${id}.${place[0]}${repeating.has(`${id}.${place[0]}`) ? '[1]' : ''}.${place[1]}`;
	const pid = patientPlaces.map(placeOf('PID'));
	const pv1 = visitPlaces.map(placeOf('PV1'));
	const obx = observationPlaces.map(placeOf(''));
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
	const library = requirePeer('simple-hl7') as {
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

/** The part of @medplum/core that is used. */
interface MedplumSegment {
	getComponent(field: number, component: number): string;
}
interface MedplumMessage {
	segments: readonly (MedplumSegment & { name: string })[];
	getSegment(id: string): MedplumSegment | undefined;
}

async function medplum(path: string): Promise<Extract> {
	const { Hl7Message } = (await import(pathToFileURL(path).href)) as { Hl7Message: { parse(text: string): MedplumMessage } };
	const length = (value: string) => (value.split('&', 1)[0] ?? '').length;
	const of = (segment: MedplumSegment | undefined, places: readonly Place[]) => {
		let sum = 0;
		if (segment !== undefined) for (const [field, component] of places) sum += length(segment.getComponent(field, component));
		return sum;
	};
	return (bytes) => {
		const message = Hl7Message.parse(bytes.toString());
		const header = message.getSegment('MSH');
		let sum = of(header, [
			[9, 1],
			[9, 2],
			[10, 1],
		]);
		sum += of(message.getSegment('PID'), patientPlaces) + of(message.getSegment('PV1'), visitPlaces);
		for (const segment of message.segments) if (segment.name === 'OBX') sum += of(segment, observationPlaces);
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

interface Contender {
	name: string;
	extract: Extract;
}

async function contenders(): Promise<Contender[]> {
	const found: Contender[] = [];
	const add = async (name: string, make: (path: string) => Extract | Promise<Extract>) => {
		const path = peerPath(name);
		if (path !== undefined) found.push({ name, extract: await make(path) });
	};
	await add('simple-hl7', simpleHl7);
	await add('node-hl7-client', nodeHl7Client);
	await add('@medplum/core', medplum);
	return found;
}

/** Measures every contender on every corpus. They take turns, so that what else the machine does meets all of them alike. */
export async function hl7Parse(recorder: Recorder, { isQuick }: Pick<SuiteOptions, 'isQuick'>): Promise<void> {
	const milliseconds = isQuick ? 50 : 500;
	const rounds = isQuick ? 1 : 3;
	const peers = await contenders();
	if (peers.length === 0) recorder.note('no parser from npm is installed: npm run bench -- --peers hl7-parse');
	for (const [name, corpus] of [
		['Parsing ADT of 1.1 KB', messages('adt', 200)],
		['Parsing ORU of 3.7 KB, 20 OBX', messages('oru20', 200)],
	] as const) {
		const found = new Map<string, Figure[]>();
		const take = (contender: string, figure: Figure) => found.set(contender, [...(found.get(contender) ?? []), figure]);
		for (let round = 0; round < rounds; round++) {
			take('Tributary', measure(tributary, corpus, milliseconds));
			for (const { name: peer, extract } of peers) take(peer, measure(extract, corpus, milliseconds));
			const inC = measureC(corpus, milliseconds);
			if (typeof inC !== 'string') take('C memchr', inC);
		}
		const own = found.get('Tributary')?.[0]?.sum;
		for (const [contender, figures] of found) {
			const { median, lowest, highest } = middle(figures, ({ rate }) => rate);
			if (median.sum !== own) recorder.note(`${name}: ${contender} reads ${median.sum} characters, Tributary ${own}`);
			recorder.line({
				section: 'hl7-parse',
				work: name,
				subject: contender,
				kind: contender === 'Tributary' ? 'product' : contender === 'C memchr' ? 'limit' : 'peer',
				perSecond: median.rate,
				lowest,
				highest,
				p50Ms: null,
				p99Ms: null,
				failed: 0,
				driver: 'one thread',
			});
		}
	}
}
