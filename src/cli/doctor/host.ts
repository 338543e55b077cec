import { existsSync, statfsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname } from 'node:path';
import { nilId } from '#core/id.ts';
import { newObjectKey } from '#storage/objects/object-key.ts';
import { configuredObjectStore, objectsFolder } from '#storage/objects/open.ts';
import { readRuntimeFile, type SurfaceAddress } from '#storage/runtime-file.ts';
import { readAuditFiles, readCertificates } from '../../certificates.ts';
import type { Config } from '../../config.ts';
import { type Finding, fault, ok, reasonOf, warning } from './check.ts';

const gibibyte = 2 ** 30;
const warnBelow = 5 * gibibyte;
const faultBelow = gibibyte / 2;

/** The space on the disks of DATA_DIR and of a store of files. */
export function checkDisk(config: Config): Finding[] {
	const folders = new Set([config.DATA_DIR, objectsFolder(config) ?? config.DATA_DIR]);
	return [...folders].map((folder) => {
		const { bavail, bsize, blocks } = statfsSync(nearestFolder(folder));
		const free = bavail * bsize;
		const share = blocks === 0 ? 100 : Math.round((bavail / blocks) * 100);
		const text = `${(free / gibibyte).toFixed(1)} GiB are free for ${folder} (${share} %)`;
		if (free < faultBelow) return fault('disk', text);
		return free < warnBelow ? warning('disk', text) : ok('disk', text);
	});
}

/** The folder may not be there yet. */
function nearestFolder(path: string): string {
	return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

const warnDays = 14;

export function checkTls(config: Config): Finding {
	const read = readCertificates(config, Date.now());
	if (read === undefined) return ok('TLS', 'is not used: TLS_CERT_FILE is unset');
	const soonest = read.expiryMs.reduce((one, other) => (other.atMs < one.atMs ? other : one));
	const days = Math.floor((soonest.atMs - Date.now()) / 86_400_000);
	const text = `the ${soonest.file === 'certificate' ? 'certificate' : 'authority of clients'} is valid for ${days} more days`;
	return days < warnDays ? warning('TLS', text) : ok('TLS', text);
}

/** The files of the receiver of the audit trail. */
export function checkAuditFiles(config: Config): Finding[] {
	readAuditFiles(config);
	return config.AUDIT_SYSLOG_URL === undefined ? [] : [ok('audit receiver', 'its TLS files can be read')];
}

/** Writes an object, reads it and deletes it, as storing an image does. */
export async function checkObjectStore(config: Config): Promise<Finding> {
	const folder = objectsFolder(config);
	if (folder !== undefined && !existsSync(folder)) return ok('object store', `${folder} is made by the first start`);
	const store = configuredObjectStore(config);
	const uid = '2.25.0';
	const key = newObjectKey({ siteId: nilId, studyUid: uid, seriesUid: uid, sopInstanceUid: uid });
	const bytes = Buffer.from('written by tributary doctor');
	try {
		const writer = store.begin(new Uint8Array());
		await writer.write(bytes);
		await writer.finish();
		const published = await writer.publish(key, { sopInstanceUid: uid, callingAe: '', source: '' });
		const chunks: Uint8Array[] = [];
		for await (const chunk of store.read(published)) chunks.push(chunk);
		const isSame = Buffer.concat(chunks).equals(bytes);
		await store.remove(published);
		if (!isSame) return fault('object store', 'what was read is not what was written');
		return ok('object store', 'an object was written, read and deleted');
	} finally {
		await store.close();
	}
}

const plainPorts = ['FHIR_PORT', 'HL7_PORT', 'MPPS_PORT', 'MLLP_PORT', 'MLLP_TLS_PORT', 'DIMSE_PORT', 'DIMSE_TLS_PORT'] as const;

/** The ports of the running service answer; without one, the configured ports are free. */
export async function checkPorts(config: Config): Promise<Finding[]> {
	const runtime = readRuntimeFile(config.DATA_DIR);
	if (runtime !== undefined) {
		const silent = await Promise.all(Object.entries(runtime.surfaces).map(([name, address]) => refusalOf(name, address)));
		const faults = silent.filter((text) => text !== undefined);
		if (faults.length > 0) return faults.map((text) => fault('ports', text));
		return [ok('ports', `the service runs, and its ${Object.keys(runtime.surfaces).length} ports answer`)];
	}
	const places = [
		...plainPorts.map((variable) => ({ variable, host: config.HOST, port: config[variable] })),
		{ variable: 'ADMIN_PORT', host: config.ADMIN_HOST, port: config.ADMIN_PORT },
		{ variable: 'OPS_PORT', host: config.OPS_HOST, port: config.OPS_PORT },
	];
	const taken = await Promise.all(
		places.map(({ variable, host, port }) => (typeof port === 'number' ? takenText(variable, host, port) : undefined)),
	);
	const faults = taken.filter((text) => text !== undefined);
	return faults.length > 0 ? faults.map((text) => fault('ports', text)) : [ok('ports', 'no service runs here, and its ports are free')];
}

function refusalOf(name: string, { host, port }: SurfaceAddress): Promise<string | undefined> {
	const at = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
	return new Promise((resolve) => {
		const socket = connect({ host: at, port, timeout: 3000 });
		const end = (text?: string) => {
			socket.destroy();
			resolve(text);
		};
		socket.once('connect', () => end());
		socket.once('timeout', () => end(`${name} does not answer on ${host} port ${port}`));
		socket.once('error', (error) => end(`${name} cannot be reached on ${host} port ${port} (${reasonOf(error)})`));
	});
}

function takenText(variable: string, host: string, port: number): Promise<string | undefined> {
	return new Promise((resolve) => {
		const server = createServer();
		server.once('error', ({ code }: NodeJS.ErrnoException) =>
			resolve(
				`${variable}: port ${port} on ${host} ${code === 'EADDRINUSE' ? 'is used by another program' : `cannot be opened (${code})`}`,
			),
		);
		server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
	});
}
