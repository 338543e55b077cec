import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FileStore } from './file-store.ts';
import type { ObjectStore } from './object-store.ts';

/**
 * The object store of OBJECT_STORE_URL: `file:` and an absolute path, as a URL (`file:///var/lib/x`) or plain (`file:/var/lib/x`).
 * @throws Error for any other, with a text that names no part of it
 */
export function openObjectStore(url: string): ObjectStore {
	if (!url.startsWith('file:')) throw new Error('the object store is given as file:<absolute path>');
	const path = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
	if (!isAbsolute(path)) throw new Error('the path of the object store is not absolute');
	return new FileStore(path.length > 1 ? path.replace(/\/+$/, '') : path);
}

/** The object store of a configuration: that of OBJECT_STORE_URL, else below DATA_DIR. */
export function configuredObjectStore(config: { OBJECT_STORE_URL?: string | undefined; DATA_DIR: string }): ObjectStore {
	return config.OBJECT_STORE_URL === undefined
		? new FileStore(join(resolve(config.DATA_DIR), 'objects'))
		: openObjectStore(config.OBJECT_STORE_URL);
}
