import { setTimeout as pause } from 'node:timers/promises';
import { repeatedly } from '#core/watch.ts';
import { mayBeAtWork } from '#storage/objects/owner.ts';
import { unfinishedCuts } from './manifest.ts';
import { type BackupPlace, contentOf, textIfThere } from './place.ts';
import type { Progress } from './progress.ts';

const folder = 'pruning';
/** Notes of another host that nobody has told again for so long are those of a process that has ended. */
const silentMsMax = 600_000;
const tellMs = 60_000;
const lookMs = 500;

/** Returns how many others may be removing backups. The notes of processes that have ended are removed. */
async function othersPruning(place: BackupPlace, own: string): Promise<number> {
	let others = 0;
	const notes: string[] = [];
	for await (const { path } of place.files(folder)) if (path !== own) notes.push(path);
	for (const path of notes) {
		const text = await textIfThere(place, path);
		if (text === undefined) continue;
		const { owner, told_at: told }: { owner: string; told_at: string } = JSON.parse(text);
		if (await mayBeAtWork(owner, async () => Date.parse(told), silentMsMax)) others += 1;
		else await place.remove(path);
	}
	return others;
}

/**
 * Says in the place that backups are being removed. A backup that is being made relies on objects that are there, and writes its note before it looks for
 * this one; this one is written before those of backups are looked for. So at least one of the two sees the other.
 * @throws Error while a backup is being made there, or others are being removed
 */
export async function beginPruning(place: BackupPlace, owner: string): Promise<{ end(): Promise<void> }> {
	const path = `${folder}/${owner}.json`;
	const tell = () => place.put(path, contentOf(JSON.stringify({ owner, told_at: new Date().toISOString() })));
	await tell();
	const leave = repeatedly(tellMs, tell);
	const end = async () => {
		// A note that is being written would appear again after it was removed.
		await leave();
		await place.remove(path);
	};
	try {
		if ((await othersPruning(place, path)) > 0)
			throw new Error('backups of this place are being removed by another process: try again later');
		const { atWork } = await unfinishedCuts(place);
		if (atWork.length > 0) throw new Error(`a backup is being made in this place (${atWork.join(', ')}): try again when it has ended`);
	} catch (error) {
		await end();
		throw error;
	}
	return { end };
}

/** Waits until nobody removes backups of a place. */
export async function pruningEnded(place: BackupPlace, progress: Progress): Promise<void> {
	for (let isTold = false; (await othersPruning(place, '')) > 0; isTold = true) {
		if (!isTold) progress.step('waiting until the removal of older backups has ended');
		await pause(lookMs);
	}
}
