import { join } from 'node:path';
import { makePackage } from './package.ts';

const root = join(import.meta.dirname, '../..');
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const made = await makePackage(root, join(root, 'dist'), { withEmbedded: process.argv.includes('--embedded') });
process.stdout.write(
	[
		`${made.archive} (${megabytes(made.archiveBytes)}, sha256 ${made.sha256})`,
		`unpacked ${megabytes(made.treeBytes)}, of which packages ${megabytes(made.packageBytes)}; npm ci --omit=dev installs ${megabytes(made.productionBytes)}`,
		'',
	].join('\n'),
);
