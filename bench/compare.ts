import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fhirWork, workloads } from './load/fhir.ts';
import { loadCorpus } from './load/fhir-import.ts';
import { httpDrivers } from './load/http-driver.ts';
import { instanceUids, writeInstances } from './load/instances.ts';
import { type MllpLoad, mllpDriver } from './load/mllp-driver.ts';
import { storeDriver } from './load/store-driver.ts';
import { medianInterval } from './median-interval.ts';
import { orthancReceiver } from './peers/store-receivers.ts';
import { countsAsAcknowledged, instancesAsAcknowledged, messagesAsAcknowledged } from './suite/books.ts';
import { checkedOut } from './suite/checkout.ts';
import { type Recorder, shortCommit } from './suite/recorder.ts';
import { Subject } from './suite/subject.ts';

/**
 * Two commits side by side: the same work in pairs, the order turned in each pair, both services running, one of them idle; Orthanc takes its
 * turn with images where it is installed. Each work gives the median ratio and the interval that holds the true one with 95 %.
 * COMPARE_PAIRS (10) pairs, COMPARE_SECONDS (2) seconds each; COMPARE_PATIENTS (12000) patients of the site that is searched; COMPARE_WORKS is
 * a part of the names of the works that are wanted, or several with `|` between them.
 */
export interface CompareOptions {
	pairs: number;
	seconds: number;
	patients: number;
	works: string;
}

export function compareOptions(environment: Readonly<Record<string, string | undefined>>): CompareOptions {
	return {
		pairs: Number(environment['COMPARE_PAIRS'] ?? 10),
		seconds: Number(environment['COMPARE_SECONDS'] ?? 2),
		patients: Number(environment['COMPARE_PATIENTS'] ?? 12_000),
		works: environment['COMPARE_WORKS'] ?? '',
	};
}

/** A service of Tributary, or a peer that takes images. */
interface Party {
	name: string;
	subject: Subject | undefined;
	dimse: { port: number; called: string };
}

interface Turn {
	perSecond: number;
	/** This says which of its answers or rows are wrong. */
	fault: string | undefined;
}

interface Work {
	name: string;
	driver: string;
	/** Peers take part. */
	isForPeers?: boolean;
	/** Makes what is sent; all parties get the same. `pair` counts from 0, the first of which only warms up. */
	prepare(pair: number): Promise<void>;
	run(party: Party): Promise<Turn>;
}

const faultIn = ({ text, isFault }: { text: string; isFault: boolean }) => (isFault ? text : undefined);

function mllp(connections: number, { seconds }: CompareOptions): Work {
	const driver = mllpDriver();
	const count = Math.ceil((connections === 1 ? 2500 : 9000) * seconds);
	let from = 0;
	return {
		name: `MLLP, ${connections} connection${connections > 1 ? 's' : ''}`,
		driver: driver.name,
		// Numbers of the two works lie apart.
		prepare: async (pair) => {
			from = (connections > 1 ? 100_000_000 : 0) + pair * count;
		},
		async run({ subject }) {
			if (subject === undefined) throw new Error('a peer takes no messages here');
			const load: MllpLoad = { port: subject.port('mllp'), connections, seconds, addresses: subject.addresses, from, count };
			const result = await driver.run(load);
			const wrong = result.notAccepted + result.disordered;
			return {
				perSecond: result.perSecond,
				fault: wrong > 0 ? `${wrong} answers are wrong` : faultIn(await messagesAsAcknowledged(subject, load, result)),
			};
		},
	};
}

function fhir(name: string, { patients, seconds: wanted }: CompareOptions): Work {
	// wrk knows whole seconds only.
	const seconds = Math.max(1, Math.round(wanted));
	const driver = httpDrivers().at(-1);
	const work = fhirWork(name, patients, workloads(patients)[name]);
	if (driver === undefined) throw new Error('there is no driver for HTTP');
	const connections = 16;
	let requests = [work.next()];
	return {
		name: work.name,
		driver: driver.name,
		prepare: async () => {
			requests = Array.from({ length: work.perSecond * seconds }, work.next);
		},
		async run({ subject }) {
			if (subject === undefined) throw new Error('a peer takes no requests here');
			const before = (await work.stored?.(subject)) ?? 0;
			const load = { port: subject.port('fhir'), key: subject.key, requests, connections, seconds, contentType: work.contentType };
			const result = await driver.run(load);
			if (result.failed > 0) return { perSecond: result.perSecond, fault: `${result.failed} failed` };
			const stored = work.stored && countsAsAcknowledged(result.accepted, (await work.stored(subject)) - before, connections);
			return { perSecond: result.perSecond, fault: stored && faultIn(stored) };
		},
	};
}

interface Images {
	name: string;
	associations: number;
	perSecond: number;
	pixelBytes: number;
	firstBatch: number;
}

function store(file: string, { name, associations, perSecond, pixelBytes, firstBatch }: Images, { seconds }: CompareOptions): Work {
	const driver = storeDriver();
	const count = Math.ceil(perSecond * seconds);
	let batch = firstBatch;
	return {
		name: `C-STORE ${name}, ${associations} association${associations > 1 ? 's' : ''}`,
		driver: driver.name,
		isForPeers: true,
		async prepare(pair) {
			batch = firstBatch + pair;
			await writeInstances(file, { batch, count, pixelBytes });
		},
		async run({ subject, dimse }) {
			// The bytes that the one before left in the page cache would be written while this one waits for its fsync.
			spawnSync('sync');
			const { perSecond, refused } = await driver.run({ ...dimse, associations, file });
			if (refused > 0) return { perSecond, fault: `${refused} refused` };
			return { perSecond, fault: subject && faultIn(await instancesAsAcknowledged(subject, instanceUids({ batch, count }))) };
		},
	};
}

function worksOf(directory: string, options: CompareOptions): Work[] {
	const file = join(directory, 'instances');
	const image = (name: string, associations: number, perSecond: number, pixelBytes: number, firstBatch: number) =>
		store(file, { name, associations, perSecond, pixelBytes, firstBatch }, options);
	const works = [
		mllp(1, options),
		mllp(64, options),
		...['read', '?identifier=', 'Observation?patient=', '?name=', '?name, many=', '?name, some=', 'create', 'Observation create'].map(
			(name) => fhir(name, options),
		),
		image('10 KB', 1, 400, 8600, 10_000),
		image('10 KB', 4, 1000, 8600, 20_000),
		image('10 KB', 8, 1300, 8600, 30_000),
		image('CT 525 KB', 1, 150, 524_288, 40_000),
		image('CT 525 KB', 4, 220, 524_288, 50_000),
		image('CT 525 KB', 8, 260, 524_288, 60_000),
	];
	const wanted = options.works.split('|');
	return works.filter(({ name }) => wanted.some((part) => name.includes(part)));
}

async function opened(name: string, root: string | undefined, patients: number): Promise<Party> {
	const subject = await Subject.open(name, root === undefined ? {} : { root });
	await loadCorpus(subject, patients);
	return { name, subject, dimse: { port: subject.port('dimse'), called: 'TRIBUTARY' } };
}

/** `base` and `name` are commits; without `name` it is this checkout as it stands. */
export async function compare(recorder: Recorder, base: string, name: string | undefined, options: CompareOptions): Promise<void> {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-compare-'));
	const parties: Party[] = [];
	const peer = await orthancReceiver(directory);
	try {
		const other = checkedOut(base);
		const own = name === undefined ? { commit: shortCommit(), folder: undefined } : checkedOut(name);
		parties.push(
			await opened(own.commit, own.folder, options.patients),
			await opened(`${other.commit} (base)`, other.folder, options.patients),
		);
		if (peer) parties.push({ name: peer.name, subject: undefined, dimse: { port: peer.port, called: peer.calledAe } });
		recorder.database = (await parties[0]?.subject?.settings()) ?? '';
		recorder.note(
			`${own.commit} against ${other.commit}: ${options.pairs} pairs of ${options.seconds} s, ${options.patients} patients, the order turned in each; ratios above 1 mean that ${own.commit} is faster`,
		);
		for (const work of worksOf(directory, options)) await alternate(work, parties, recorder, options.pairs);
	} finally {
		await peer?.stop();
		for (const { subject } of parties) await subject?.[Symbol.asyncDispose]();
		rmSync(directory, { recursive: true, force: true });
	}
}

async function alternate(work: Work, parties: readonly Party[], recorder: Recorder, pairs: number): Promise<void> {
	const taking = parties.filter(({ subject }) => subject !== undefined || work.isForPeers);
	const rates = new Map(taking.map(({ name }): [string, number[]] => [name, []]));
	const faults: string[] = [];
	for (let pair = 0; pair <= pairs; pair++) {
		await work.prepare(pair);
		for (const party of pair % 2 === 0 ? taking : taking.toReversed()) {
			const { perSecond, fault } = await work.run(party);
			if (fault !== undefined) faults.push(`${party.name}: ${fault}`);
			if (pair > 0) rates.get(party.name)?.push(perSecond);
		}
	}
	for (const fault of faults) recorder.fault(`${work.name}, ${fault}`);
	const [own, ...others] = taking;
	const ownRates = rates.get(own?.name ?? '') ?? [];
	for (const { name } of others) {
		const otherRates = rates.get(name) ?? [];
		recorder.comparison({
			work: work.name,
			subject: own?.name ?? '',
			base: name,
			perSecond: medianInterval(ownRates).median,
			basePerSecond: medianInterval(otherRates).median,
			ratio: medianInterval(ownRates.map((rate, index) => rate / (otherRates[index] ?? Number.NaN))),
			pairs,
			driver: work.driver,
			ledger: faults.length === 0 ? 'as acknowledged' : 'NOT AS ACKNOWLEDGED',
		});
	}
}
