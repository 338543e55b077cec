import { nilId } from '#core/id.ts';
import { storedHead } from '#imaging/stored-head.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { quarantineKey } from '#storage/objects/object-key.ts';
import type { ObjectStore, ObjectWriter } from '#storage/objects/object-store.ts';
import { conflictsToMove, instancesToMove } from '#storage/statements/administrative/move-objects.ts';

export interface MoveReport {
	/** Objects that rows name. */
	objects: number;
	copied: number;
	/** Objects that were in the new store already, with the size that their row states. */
	present: number;
	/** The bytes that were copied. */
	bytes: number;
	/** Objects that are in neither store. */
	missing: number;
	/** Objects whose content is not what their row states; they are not copied. */
	damaged: number;
	examples: string[];
}

export interface MoveOptions {
	from: Pick<ObjectStore, 'read' | 'size'>;
	to: ObjectStore;
	/** Only the objects of the site with this id. */
	siteId?: string;
	/** Keys that are known to be in the new store; those that this run finds there are added. */
	known?: Set<string>;
	/** Is told after each page. */
	onProgress(report: MoveReport): void;
}

interface Row {
	site_id: string;
	after: string;
	object_key: string;
	/** Hex SHA-256 of the data set. */
	digest: string;
	bytes: number;
	sop_instance_uid: string;
	calling_ae: string;
	source: string;
}

/** The report counts all and gives some examples. */
const examplesMax = 20;
/** More would keep the store from the instances that come in. */
const atOnce = 4;
/** The head that the service writes is shorter. */
const beginningBytes = 4096;

/**
 * Copies every object that a row names into another store, under its own key: so rows stay as they are, and the configuration alone decides which
 * store is used. What an earlier run copied is not copied again. Nothing is removed from the old store.
 */
export async function moveObjects(database: ConnectionPool, options: MoveOptions): Promise<MoveReport> {
	const report: MoveReport = { objects: 0, copied: 0, present: 0, bytes: 0, missing: 0, damaged: 0, examples: [] };
	for await (const { rows, isAside } of namedObjects(database, options.siteId)) {
		for (let at = 0; at < rows.length; at += atOnce)
			await Promise.all(rows.slice(at, at + atOnce).map((row) => moveObject(options, row, isAside, report)));
		options.onProgress(report);
	}
	return report;
}

/** Yields pages of the objects that rows name, those of one site or of all: first those of instances, then those that are kept aside. */
export async function* namedObjects(database: ConnectionPool, siteId?: string): AsyncGenerator<{ rows: Row[]; isAside: boolean }> {
	for (const isAside of [false, true]) {
		let after: Pick<Row, 'site_id' | 'after'> | undefined = { site_id: siteId ?? nilId, after: isAside ? nilId : '' };
		while (after !== undefined) {
			const page: Row[] = await database.rows(isAside ? conflictsToMove : instancesToMove, [after.site_id, after.after]);
			const rows = page.filter(({ site_id }) => siteId === undefined || site_id === siteId);
			if (rows.length > 0) yield { rows, isAside };
			after = rows.length < page.length ? undefined : page.at(-1);
		}
	}
}

async function moveObject({ from, to, known }: MoveOptions, row: Row, isAside: boolean, report: MoveReport): Promise<void> {
	const { object_key: key, bytes } = row;
	const [place, other] = isAside ? [quarantineKey(key), key] : [key, quarantineKey(key)];
	report.objects += 1;
	if (known?.has(place) === true || (await to.size(place)) === bytes) {
		known?.add(place);
		report.present += 1;
		return;
	}
	// An interrupted process may have left it on the wrong side of quarantine; in the new store it is on the right one.
	const found = (await from.size(place)) !== undefined ? place : (await from.size(other)) !== undefined ? other : undefined;
	const outcome = found === undefined ? 'missing' : (await copied(from, found, to, place, row)) ? 'copied' : 'damaged';
	report[outcome] += 1;
	if (outcome === 'copied') {
		known?.add(place);
		report.bytes += bytes;
	} else if (report.examples.length < examplesMax) report.examples.push(place);
}

/** Copies an object; it is visible in the new store only if its content has the digest and the length that its row states. */
async function copied(from: Pick<ObjectStore, 'read'>, key: string, to: ObjectStore, place: string, row: Row): Promise<boolean> {
	let writer: ObjectWriter | undefined;
	try {
		for await (const piece of withWholeBeginning(from.read(key))) {
			if (writer === undefined) {
				const headBytes = storedHead(piece)?.headBytes;
				if (headBytes === undefined) return false;
				writer = to.begin(piece.subarray(0, headBytes));
				await writer.write(piece.subarray(headBytes));
			} else await writer.write(piece);
		}
		if (writer === undefined) return false;
		const { digest, bytes } = await writer.finish();
		if (digest !== row.digest || bytes !== row.bytes) return false;
		await writer.publish(place, { sopInstanceUid: row.sop_instance_uid, callingAe: row.calling_ae, source: row.source });
		return true;
	} finally {
		await writer?.abandon();
	}
}

/** Yields the pieces of an object. The first one has all of the head. */
async function* withWholeBeginning(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
	let beginning: Buffer | undefined = Buffer.alloc(0);
	for await (const piece of pieces) {
		if (beginning === undefined) yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
		else {
			// This copies, because the store may use the memory of a piece again.
			beginning = Buffer.concat([beginning, piece]);
			if (beginning.length < beginningBytes) continue;
			yield beginning;
			beginning = undefined;
		}
	}
	if (beginning !== undefined) yield beginning;
}
