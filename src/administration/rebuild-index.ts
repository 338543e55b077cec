import { createHash } from 'node:crypto';
import { Failure } from '#core/failure.ts';
import { newId, nilId } from '#core/id.ts';
import { dataSetOf } from '#imaging/archive.ts';
import { readAttributes } from '#imaging/stored-attributes.ts';
import { isContinued } from '#imaging/wholeness.ts';
import type { InstanceDelivery } from '#record/delivery.ts';
import type { IndexAnswer, StoredInstance } from '#record/instance.ts';
import { packInstance } from '#record/instance-bytes.ts';
import { readSettings, type Settings } from '#record/settings/settings.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { publishedKey } from '#storage/objects/object-key.ts';
import type { ListedObject, ObjectStore } from '#storage/objects/object-store.ts';
import { settingsOfSites } from '#storage/statements/administrative/export-objects.ts';
import { knownObjects } from '#storage/statements/administrative/known-objects.ts';
import type { OperationContext } from './context.ts';

export interface RebuildReport {
	/** Objects that were looked at. */
	objects: number;
	/** Objects that rows name already. */
	known: number;
	/** Objects that are instances now. */
	stored: number;
	/** Objects whose content another object has, which is the instance. */
	duplicates: number;
	/** Objects that are kept aside now, as the policy of their site says. */
	kept_aside: number;
	/** Objects that the index refuses. */
	refused: number;
	/** Objects that do not have the content that they were stored with, or cannot be read. */
	damaged: number;
	/** Objects of sites that the database does not know. */
	unknown_site: number;
	examples: string[];
}

export type RebuildContext = Pick<OperationContext, 'database' | 'deliver' | 'headerBytesMax' | 'nowMs'> & { objects: ObjectStore };

const batchObjects = 500;
const examplesMax = 20;
const outcomes: Readonly<Record<IndexAnswer['kind'], 'stored' | 'duplicates' | 'kept_aside' | 'refused'>> = {
	...{ stored: 'stored', split: 'stored', replaced: 'stored', duplicate: 'duplicates', quarantined: 'kept_aside', aside: 'kept_aside' },
	...{ refused: 'refused', failed: 'refused', unplaced: 'refused', undecided: 'refused', foreign: 'refused' },
};

/**
 * Puts every object that no row names into the index of its site, in the order in which objects were stored. Each goes the way of an instance
 * that is received, so the rules of the site decide about it.
 */
export async function rebuildIndex(context: RebuildContext): Promise<RebuildReport> {
	const report: RebuildReport = {
		...{ objects: 0, known: 0, stored: 0, duplicates: 0, kept_aside: 0, refused: 0, damaged: 0, unknown_site: 0 },
		examples: [],
	};
	const sites = await settingsOf(context.database);
	let batch: ListedObject[] = [];
	const settle = async () => {
		const rows = await context.database.rows<{ object_key: string }>(knownObjects, [batch.map(({ key }) => publishedKey(key))]);
		const known = new Set(rows.map((row) => row.object_key));
		for (const object of batch) {
			report.objects += 1;
			const outcome = known.has(publishedKey(object.key)) ? 'known' : await take(context, object, sites);
			report[outcome] += 1;
			const isStrange = outcome === 'damaged' || outcome === 'refused' || outcome === 'unknown_site';
			if (isStrange && report.examples.length < examplesMax) report.examples.push(object.key);
		}
		batch = [];
	};
	for await (const object of context.objects.list()) {
		batch.push(object);
		if (batch.length === batchObjects) await settle();
	}
	await settle();
	return report;
}

async function settingsOf(database: ConnectionPool): Promise<Map<string, Settings>> {
	const rows = await database.rows<{ id: string; settings: unknown }>(settingsOfSites, []);
	return new Map(rows.map(({ id, settings }) => [id, readSettings(settings)]));
}

async function take(
	context: RebuildContext,
	object: ListedObject,
	sites: ReadonlyMap<string, Settings>,
): Promise<Exclude<keyof RebuildReport, 'examples' | 'objects' | 'known'>> {
	const siteId = publishedKey(object.key).slice(0, nilId.length);
	const settings = sites.get(siteId);
	if (settings === undefined) return 'unknown_site';
	const instance = await instanceOf(context, object);
	if (instance === undefined) return 'damaged';
	let given = instance;
	for (;;) {
		const receivedAtMs = context.nowMs();
		const delivery: InstanceDelivery = {
			...{ id: newId(receivedAtMs), kind: 'instance', siteId, clientId: nilId, surface: 'dimse', source: instance.source },
			...{ receivedAtMs, settings, bytes: packInstance(given, undefined) },
		};
		const { answer } = await context.deliver(delivery);
		if (answer.kind === 'foreign') given = { ...given, isForeign: true };
		else if (answer.kind === 'undecided') {
			const isBeginning = await isContinued(context.objects, instance.objectKey, answer.held);
			given = { ...given, compared: { objectKey: answer.held, isBeginning } };
		} else return outcomes[answer.kind];
	}
}

/** Reads the object from end to end. Returns undefined when it is damaged. */
async function instanceOf(
	{ objects, headerBytesMax }: RebuildContext,
	{ key, bytes, digest: stated, about }: ListedObject,
): Promise<StoredInstance | undefined> {
	try {
		const attributes = await readAttributes(objects, key, { headerBytesMax });
		const hash = createHash('sha256');
		for await (const piece of dataSetOf(objects, key)) hash.update(piece);
		const digest = hash.digest('hex');
		if (stated !== undefined && stated !== digest) return undefined;
		return { attributes, digest, bytes, objectKey: key, callingAe: about?.callingAe ?? '', source: about?.source ?? '' };
	} catch (error) {
		if (error instanceof Failure && error.code !== 'unavailable') return undefined;
		throw error;
	}
}
