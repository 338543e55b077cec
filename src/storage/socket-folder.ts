import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The length of a Unix socket's path is limited to about 107 bytes; the socket's own name takes some of them. */
const folderBytesMax = 85;

/** A folder for Unix sockets below the data directory, or where that is too deep, below the system's temporary one. */
export function socketFolder(dataDir: string, name: string): string {
	const near = join(dataDir, name);
	const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
	const far = join(tmpdir(), `tributary-${digest}${name === 'socket' ? '' : `-${name}`}`);
	return Buffer.byteLength(near) <= folderBytesMax ? near : far;
}
