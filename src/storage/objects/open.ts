import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultsOf } from '#core/limit-definition.ts';
import type { Log } from '#core/log.ts';
import { type StorageLimits, storageLimitDefinitions } from '../limits.ts';
import type { StorageMetrics } from '../metrics.ts';
import { BoundedStore } from './bounded-store.ts';
import { FileStore, type SegmentSettings } from './file-store.ts';
import { Operations } from './operations.ts';
import type { S3Access } from './s3-client.ts';
import { S3Store } from './s3-store.ts';
import { StoreHealth } from './store-health.ts';
import { TimeLimit } from './time-limit.ts';

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
	/** The defaults unless they are given. */
	limits?: StorageLimits;
}

const s3Pattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*))?$/;

/**
 * Returns the object store of OBJECT_STORE_URL: `file:` and an absolute path, as a URL (`file:///var/lib/x`) or plain (`file:/var/lib/x`);
 * or a bucket, `s3://<bucket>/<prefix>`, reached by the AWS_* variables. If unset, objects lie below DATA_DIR. A store of files appends to
 * segments only when it is told how.
 * @param retried is called when a request to a bucket is sent again
 * @throws Error for any other value, with a text that quotes no part of it
 */
export function configuredObjectStore(
	config: ObjectStoreConfig,
	segments?: SegmentSettings,
	retried?: S3Access['retried'],
): FileStore | S3Store {
	const folder = objectsFolder(config);
	if (folder !== undefined) return new FileStore(folder, segments);
	const bucket = bucketOf(config.OBJECT_STORE_URL ?? '');
	if (bucket === undefined) throw new Error('the object store is given as file:<absolute path> or s3://<bucket>[/<prefix>]');
	const access = { ...bucketAccess(config, segments?.log), retried };
	return new S3Store({ ...bucket, spool: join(resolve(config.DATA_DIR), 'objects-spool'), access });
}

/** Reads `s3://<bucket>/<prefix>`; undefined for anything else. The prefix ends in `/`, or is empty. */
export function bucketOf(url: string): { bucket: string; prefix: string } | undefined {
	const [isBucket, bucket = '', prefix = ''] = s3Pattern.exec(url) ?? [];
	if (isBucket === undefined) return undefined;
	const below = prefix.replace(/^\/+|\/+$/g, '');
	return { bucket, prefix: below === '' ? '' : `${below}/` };
}

/** Returns how buckets are reached, by the AWS_* variables. */
export function bucketAccess(config: Omit<ObjectStoreConfig, 'DATA_DIR'>, log?: S3Access['log']): S3Access {
	const { limits = defaultsOf(storageLimitDefinitions) } = config;
	return {
		endpoint: config.AWS_ENDPOINT_URL_S3 ?? config.AWS_ENDPOINT_URL,
		region: config.AWS_REGION,
		credentials: credentialsOf(config),
		answerMsMax: limits.objectStoreMsMax,
		attemptsMax: limits.objectStoreAttemptsMax,
		log,
	};
}

/** Returns the same store for those who must not wait for it, and what is known of its health. */
export function boundedStore(
	store: FileStore | S3Store,
	{
		limits,
		metrics,
		log,
	}: { limits: StorageLimits; metrics: Pick<StorageMetrics, 'objectStoreUp' | 'objectStoreTimeouts' | 'operationSeconds'>; log: Log },
): { objects: BoundedStore; health: StoreHealth } {
	const limit = new TimeLimit(limits.objectStoreMsMax, (step) => {
		metrics.objectStoreTimeouts.inc({ step });
		log.error({ step }, 'the object store does not come to the end of a step');
	});
	const health = new StoreHealth({ probe: (signal) => store.probe(signal), probeMsMax: limits.objectProbeMsMax, metrics, log });
	// An upload may take long; the client of the bucket sees to it that it gets on.
	const isPublishingBounded = store instanceof FileStore;
	return { objects: new BoundedStore({ store, limit, health, operations: new Operations(metrics), isPublishingBounded }), health };
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

function credentialsOf(config: Omit<ObjectStoreConfig, 'DATA_DIR'>) {
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
