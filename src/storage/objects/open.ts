import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '#core/log.ts';
import type { StorageLimits } from '../limits.ts';
import type { StorageMetrics } from '../metrics.ts';
import { FileStore, type SegmentSettings } from './file-store.ts';
import { S3Store } from './s3-store.ts';

/** The part of the configuration that decides where objects are stored. */
export interface ObjectStoreConfig {
	OBJECT_STORE_URL?: string | undefined;
	DATA_DIR: string;
	AWS_ENDPOINT_URL_S3?: string | undefined;
	AWS_ENDPOINT_URL?: string | undefined;
	AWS_REGION?: string | undefined;
	AWS_ACCESS_KEY_ID?: string | undefined;
	AWS_SECRET_ACCESS_KEY?: string | undefined;
	AWS_SESSION_TOKEN?: string | undefined;
}

const s3Pattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*))?$/;

/**
 * Returns the object store of OBJECT_STORE_URL: `file:` and an absolute path, as a URL (`file:///var/lib/x`) or plain (`file:/var/lib/x`);
 * or a bucket, `s3://<bucket>/<prefix>`, reached by the AWS_* variables. If unset, objects lie below DATA_DIR. A store of files appends to
 * segments only when it is told how.
 * @throws Error for any other value, with a text that quotes no part of it
 */
export function configuredObjectStore(config: ObjectStoreConfig, segments?: SegmentSettings): FileStore | S3Store {
	const folder = objectsFolder(config);
	if (folder !== undefined) return new FileStore(folder, segments);
	const { OBJECT_STORE_URL: url = '', DATA_DIR } = config;
	const [isBucket, bucket = '', prefix = ''] = s3Pattern.exec(url) ?? [];
	if (isBucket === undefined) throw new Error('the object store is given as file:<absolute path> or s3://<bucket>[/<prefix>]');
	const below = prefix.replace(/^\/+|\/+$/g, '');
	return new S3Store({
		bucket,
		prefix: below === '' ? '' : `${below}/`,
		spool: join(resolve(DATA_DIR), 'objects-spool'),
		access: {
			endpoint: config.AWS_ENDPOINT_URL_S3 ?? config.AWS_ENDPOINT_URL,
			region: config.AWS_REGION,
			credentials: credentialsOf(config),
		},
	});
}

/** Returns how a thread of a process start appends to segments. */
export function segmentSettings(
	{ segmentBytes, segmentedObjectBytesMax }: Pick<StorageLimits, 'segmentBytes' | 'segmentedObjectBytesMax'>,
	writer: string,
	log: Log,
	metrics?: Pick<StorageMetrics, 'appendSeconds' | 'syncSeconds'>,
): SegmentSettings {
	return {
		...{ writer, segmentBytes, objectBytesMax: segmentedObjectBytesMax, log },
		appended: metrics && ((ms) => metrics.appendSeconds.observe(ms / 1000)),
		synced: metrics && ((ms) => metrics.syncSeconds.observe(ms / 1000)),
	};
}

function credentialsOf(config: ObjectStoreConfig) {
	const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = config;
	return accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey, sessionToken };
}

/** Returns the folder of a store of files; undefined for any other store. */
export function objectsFolder({ OBJECT_STORE_URL: url, DATA_DIR }: ObjectStoreConfig): string | undefined {
	if (url === undefined) return join(resolve(DATA_DIR), 'objects');
	if (!url.startsWith('file:')) return undefined;
	const path = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length);
	if (!isAbsolute(path)) throw new Error('the path of the object store is not absolute');
	return path.length > 1 ? path.replace(/\/+$/, '') : path;
}
