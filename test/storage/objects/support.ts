import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '#core/failure.ts';
import { newId } from '#core/id.ts';
import { newObjectKey } from '#storage/objects/object-key.ts';
import type { ByteRange, ObjectStore } from '#storage/objects/object-store.ts';

const roots: string[] = [];
// Several test files of one process share it.
process.once('exit', () => {
	for (const root of roots) rmSync(root, { recursive: true, force: true });
});

export function newRoot(parent = tmpdir()): string {
	const root = mkdtempSync(join(parent, 'tributary-objects-'));
	roots.push(root);
	return join(root, 'objects');
}

export const siteId = newId();
export const keyOf = (sopInstanceUid: string) => newObjectKey({ siteId, studyUid: '1.2.3', seriesUid: '1.2.3.4', sopInstanceUid });
/** A further key in the folder of another. */
export const againOf = (key: string) => key.replace(/[0-9a-f]{32}\.dcm$/, `${newId().replaceAll('-', '')}.dcm`);
export const about = { sopInstanceUid: '1.2.3.4.5', callingAe: 'MODALITY', source: '127.0.0.1' };
export const head = Buffer.from('head');

/** The way of a test to a server of S3. */
export const accessTo = (endpoint: string, accessKeyId: string) => ({
	endpoint,
	region: undefined,
	credentials: { accessKeyId, secretAccessKey: 'secret' },
	answerMsMax: 10_000,
	attemptsMax: 3,
});

export async function put(store: ObjectStore, key: string, content: Buffer): Promise<string> {
	const writer = store.begin(head);
	await writer.write(content);
	await writer.finish();
	return writer.publish(key, about);
}

export async function read(store: ObjectStore, key: string, range?: ByteRange): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of store.read(key, range)) chunks.push(chunk);
	return Buffer.concat(chunks);
}

/** Files that were begun and neither published nor abandoned. */
export const temporary = (root: string) => globSync('incoming/*/*', { cwd: root });
export const refused = (code: string) => (error: unknown) => error instanceof Failure && error.code === code;
