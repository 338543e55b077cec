import { existsSync } from 'node:fs';
import { compareBinaries } from './uws-binaries.ts';

/**
 * Tells whether the binaries of uWebSockets.js on this machine are the author's:
 *
 *     git clone --depth 1 --branch v20.69.0 https://github.com/uNetworking/uWebSockets.js author
 *     node ops/supply-chain/verify-uws.ts author
 *
 * Ends with 0 if one is byte for byte the author's and none differs, with 1 if one differs or none could be compared.
 */
const folder = process.argv[2];
if (folder === undefined || !existsSync(folder)) {
	console.error('usage: node ops/supply-chain/verify-uws.ts <folder of the author’s release>');
	process.exit(2);
}
const words = { same: "is the author's", differs: "DIFFERS from the author's", absent: 'is not in the folder' };
const found = compareBinaries(folder);
for (const { name, outcome, sha256 } of found) console.log(`${name} ${words[outcome]} (SHA-256 ${sha256})`);
process.exitCode = found.some(({ outcome }) => outcome === 'same') && !found.some(({ outcome }) => outcome === 'differs') ? 0 : 1;
