import { join, resolve } from 'node:path';
import { bucketAccess, bucketOf, type ObjectStoreConfig } from '#storage/objects/open.ts';
import { BucketPlace } from './bucket-place.ts';
import { FolderPlace } from './folder-place.ts';
import type { BackupPlace } from './place.ts';

/**
 * Opens the place of `--to` or `--from`: `s3://<bucket>[/<prefix>]`, reached by the AWS_* variables, or a folder.
 * @throws Error when it is neither, or a folder within DATA_DIR
 */
export function openPlace(where: string, config: ObjectStoreConfig): BackupPlace {
	const dataDir = resolve(config.DATA_DIR);
	if (where.startsWith('s3:')) {
		const bucket = bucketOf(where);
		if (bucket === undefined) throw new Error('a bucket is given as s3://<bucket>[/<prefix>]');
		return new BucketPlace({ ...bucket, access: bucketAccess(config), spool: join(dataDir, 'backup-spool') });
	}
	const folder = resolve(where);
	if (folder === dataDir || folder.startsWith(`${dataDir}/`))
		throw new Error('a backup within DATA_DIR would be lost with it: choose another folder');
	return new FolderPlace(folder);
}
