import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#core/id.ts';
import type { Delivery, Hl7v2Delivery, Reply } from '#record/delivery.ts';
import { IntegrationClient } from '#storage/entities/index.ts';
import { AdministrationError, note, type OperationContext } from '../context.ts';
import { settingsOfClient } from '../feeds/test-feed.ts';
import { siteBySlug } from '../sites.ts';
import { filesBelow, refuseNoFolder, unitOf } from './files.ts';
import { type FileMessage, messagesOf, statedTime } from './hl7-files.ts';
import { type ImportOptions, type ImportReport, ImportRun, type Settled, settled } from './run.ts';

/** Carries out a few deliveries of a site in their order; undefined for those that the database does not take now. */
export type Process = (deliveries: readonly Delivery[]) => Promise<readonly (Reply | undefined)[]>;

interface Hl7FolderOptions extends ImportOptions {
	folder: string;
	site: string;
	/** The name or the id of the integration client in whose name the messages come. */
	client: string;
	/** `name`: of the files; `time`: MSH-7 of the messages. */
	order: 'name' | 'time';
	bytesMax: number;
	process: Process;
}

const extensions = /\.(hl7|txt|dat|msg|er7)$/i;
/** The most messages that share a transaction. */
const batchMax = 64;
/** The database may be away for about so many seconds. */
const triesMax = 120;

/** Takes the messages of a folder into a site as those of an integration client: validated, logged, applied once, in their order. */
export async function importHl7Folder(context: OperationContext, options: Hl7FolderOptions): Promise<ImportReport> {
	await refuseNoFolder(options.folder);
	const client = await clientOf(context, options);
	const of = { import: 'hl7-folder', folder: options.folder, site: options.site, client: client.id, order: options.order };
	const run = await ImportRun.open(of, options);
	try {
		const taking = new Taking(run, options, client);
		if (options.order === 'time') await byTime(run, options, taking);
		else await byName(run, options, taking);
		const report = run.report();
		const { taken, known, refused, skipped } = report;
		const after = { taken, known, refused, skipped, rehearsed: options.isDry };
		await note(context, { action: 'import.hl7', subject: client.id, siteId: client.site.id, after });
		return report;
	} finally {
		await run.journal.close();
	}
}

async function clientOf(context: OperationContext, { site, client: named }: Hl7FolderOptions): Promise<IntegrationClient> {
	const em = context.em.fork();
	const of = await siteBySlug(em, site);
	const all = await em.find(IntegrationClient, { site: of }, { populate: ['site'] });
	const client = all.find(({ id, name }) => id === named || name === named);
	if (client === undefined) throw new AdministrationError(`the site '${site}' has no integration client '${named}'`, 'not-found', 'client');
	if (!client.active || !of.active) throw new AdministrationError('the client or its site is disabled');
	return client;
}

async function byName(run: ImportRun, { folder, bytesMax }: Hl7FolderOptions, taking: Taking): Promise<void> {
	for await (const name of filesBelow(folder)) {
		const unit = await unitOf(folder, name);
		if (run.journal.isDone(unit)) continue;
		if (extensions.test(name)) await taking.take(unit, messagesOf(join(folder, name), bytesMax));
		else await run.note(unit, settled({ skipped: 1 }));
	}
}

/** The place of a message, by which it is read again in another order. */
interface Place {
	time: string;
	name: string;
	number: number;
}

/** Sorts by MSH-7, then by file and place. Memory holds one such entry a message, which is about 100 bytes. */
async function byTime(run: ImportRun, { folder, bytesMax }: Hl7FolderOptions, taking: Taking): Promise<void> {
	const places: Place[] = [];
	const versions = createHash('sha256');
	for await (const name of filesBelow(folder)) {
		if (!extensions.test(name)) continue;
		versions.update(`${await unitOf(folder, name)}\n`);
		let number = 0;
		for await (const { bytes } of messagesOf(join(folder, name), bytesMax))
			places.push({ time: statedTime(bytes), name, number: ++number });
	}
	// The sort is stable, so messages of one time stay in the order of their files.
	places.sort((left, right) => (left.time < right.time ? -1 : left.time > right.time ? 1 : 0));
	const unit = `all by MSH-7 (${versions.digest('hex').slice(0, 16)})`;
	if (!run.journal.isDone(unit)) await taking.take(unit, messagesAt(folder, places, bytesMax));
}

/** Reads messages by their places. Neighbours in one file are read by one pass. */
async function* messagesAt(folder: string, places: readonly Place[], bytesMax: number): AsyncGenerator<FileMessage> {
	let reading: { name: string; number: number; messages: AsyncGenerator<FileMessage> } | undefined;
	for (const { name, number } of places) {
		if (reading?.name !== name || reading.number >= number) {
			await reading?.messages.return(undefined);
			reading = { name, number: 0, messages: messagesOf(join(folder, name), bytesMax) };
		}
		let message: FileMessage | undefined;
		while (reading.number < number) {
			const { value, done } = await reading.messages.next();
			if (done === true) throw new AdministrationError(`${name} has changed while it was read`);
			message = value;
			reading.number++;
		}
		if (message !== undefined) yield message;
	}
	await reading?.messages.return(undefined);
}

class Taking {
	readonly #run: ImportRun;
	readonly #options: Hl7FolderOptions;
	readonly #client: IntegrationClient;
	readonly #settings: Hl7v2Delivery['settings'];

	constructor(run: ImportRun, options: Hl7FolderOptions, client: IntegrationClient) {
		this.#run = run;
		this.#options = options;
		this.#client = client;
		this.#settings = settingsOfClient(client);
	}

	/** Takes the messages of a unit in batches, and notes after each how far it has come. */
	async take(unit: string, messages: AsyncIterable<FileMessage>): Promise<void> {
		const before = this.#run.journal.settledIn(unit);
		const counts = settled(before.counts);
		let number = 0;
		let batch: { number: number; bytes: Buffer }[] = [];
		for await (const { bytes, isTooLong } of messages) {
			number++;
			if (number <= before.at) continue;
			if (isTooLong) {
				counts.refused++;
				counts.refusals.push({ at: number, reason: `the message is longer than ${this.#options.bytesMax} bytes` });
			} else batch.push({ number, bytes: Buffer.from(bytes) });
			if (batch.length < batchMax) continue;
			await this.#settle(batch, counts);
			batch = [];
			await this.#run.note(unit, counts, number);
			counts.refusals = [];
		}
		await this.#settle(batch, counts);
		if (number === 0) counts.skipped++;
		await this.#run.note(unit, counts);
	}

	async #settle(batch: readonly { number: number; bytes: Buffer }[], counts: Settled): Promise<void> {
		if (batch.length === 0) return;
		await this.#run.pace(batch.length);
		const replies = await this.#processed(batch.map(({ bytes }) => this.#delivery(bytes)));
		for (const [index, { outcome, failure }] of replies.entries()) {
			if (outcome === 'refused') {
				counts.refused++;
				counts.refusals.push({ at: batch[index]?.number, reason: failure?.diagnostics ?? 'refused' });
			} else if (outcome === 'duplicate') counts.known++;
			else counts.taken++;
		}
	}

	#delivery(bytes: Buffer): Hl7v2Delivery {
		const receivedAtMs = Date.now();
		const { id: clientId, site } = this.#client;
		return {
			...{ kind: 'hl7v2', id: newId(receivedAtMs), siteId: site.id, clientId, surface: 'administration', source: 'import' },
			...{ receivedAtMs, settings: this.#settings, bytes },
			...(this.#options.isDry && { rehearsal: true as const }),
		};
	}

	/** A message that the database does not take is tried again with the same id, and those behind it wait. */
	async #processed(deliveries: readonly Delivery[]): Promise<Reply[]> {
		const replies: Reply[] = [];
		for (let tries = 0; replies.length < deliveries.length; tries++) {
			if (tries > 0) await pause(1000);
			if (tries > triesMax) throw new AdministrationError('the database takes no messages; the same command goes on later');
			for (const reply of await this.#options.process(deliveries.slice(replies.length))) {
				if (reply === undefined) break;
				replies.push(reply);
				tries = 0;
			}
		}
		return replies;
	}
}
