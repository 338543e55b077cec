import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import { CertificateFiles, subjectShown } from '#test/support/certificate-files.ts';
import { eventually } from '#test/support/eventually.ts';
import { MllpLoad } from '#test/support/mllp-load.ts';
import { ServiceProcess } from '#test/support/service-process.ts';

const count = 3;

function pidsOf(service: ServiceProcess): readonly number[] {
	return readRuntimeFile(service.dataDir)?.processes ?? [];
}

function isRunning(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}

/**
 * Linux hands a connection that a process has not accepted when it leaves its port to another process, if this is set. Otherwise such a
 * connection is reset.
 */
const handsOver = readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim() === '1';

/** Connects every few milliseconds until told to stop; answers how many connections were made and how many were not. */
async function knock(port: number, goesOn: () => boolean): Promise<{ made: number; refused: number; reset: number }> {
	const counts = { made: 0, refused: 0, reset: 0 };
	while (goesOn()) {
		await pause(5);
		await new Promise<void>((resolve) => {
			const socket = connect(port, '127.0.0.1');
			socket.once('connect', () => {
				counts.made++;
				socket.destroy();
			});
			socket.once('error', (error: NodeJS.ErrnoException) => {
				counts[error.code === 'ECONNRESET' ? 'reset' : 'refused']++;
			});
			socket.once('close', () => resolve());
		});
	}
	return counts;
}

describe('a node of several processes', () => {
	test('loses nothing when one is killed, refuses nobody while it rolls, and drains as a whole', async () => {
		await using service = new ServiceProcess({ PROCESSES: String(count) });
		await service.start();
		const key = await service.addSite('north');
		const pids = pidsOf(service);
		assert.equal(new Set(pids).size, count);
		assert.ok(!pids.includes(service.pid));

		const killed = new MllpLoad(service.port('mllp'), 'killed', 12);
		await eventually(() => killed.total > 300, 'acknowledgements');
		process.kill(pids[1] ?? 0, 'SIGKILL');
		const atKill = killed.total;
		await eventually(() => killed.total > atKill + 300, 'acknowledgements by the others');
		await eventually(() => pidsOf(service).length === count && pidsOf(service).every((pid) => pid !== pids[1]), 'another process');
		assert.deepEqual([pidsOf(service)[0], pidsOf(service)[2]], [pids[0], pids[2]], 'the others went on');
		assert.ok(killed.living > 0, 'connections to the others went on');

		const before = pidsOf(service);
		let rolled = false;
		const knocking = Promise.all(['mllp', 'fhir', 'dimse'].map((surface) => knock(service.port(surface), () => !rolled)));
		assert.equal((await service.cli('roll')).code, 0);
		assert.equal(pidsOf(service).filter((pid) => before.includes(pid)).length, 0, 'every process is another one');
		assert.deepEqual(before.filter(isRunning), [], 'the ones before have ended');
		rolled = true;
		for (const { made, refused, reset } of await knocking) {
			assert.deepEqual([made > 0, refused], [true, 0]);
			if (handsOver) assert.equal(reset, 0);
		}
		await killed.ended();

		const drained = new MllpLoad(service.port('mllp'), 'drained', 12);
		await eventually(() => drained.total > 300, 'acknowledgements by the new processes');
		const last = pidsOf(service);
		assert.equal(await service.end('SIGTERM'), 0);
		await drained.ended();
		assert.deepEqual(last.filter(isRunning), []);

		const ofNode = ['--max-old-space-size=700', '--use-openssl-ca'];
		await service.start(ofNode);
		await killed.assertStored(service.port('fhir'), key);
		await drained.assertStored(service.port('fhir'), key);
		for (const pid of pidsOf(service)) {
			const given = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
			assert.deepEqual(given.slice(1, 3), ofNode, 'each process has the arguments of Node.js');
		}
		const under = new MllpLoad(service.port('mllp'), 'under', 4);
		await eventually(() => under.total > 40, 'acknowledgements by threads of processes with arguments');
		assert.equal(await service.end('SIGTERM'), 0);
		await under.ended();
	});

	test('has its ports for itself, and by SIGHUP shows renewed certificates: a second service on a port is refused with one sentence, however it starts', async () => {
		using files = new CertificateFiles();
		await using service = new ServiceProcess({ PROCESSES: '2', DIMSE_TLS_PORT: '0', ...files.variables });
		await service.start();
		const port = String(service.port('hl7'));
		for (const processes of ['1', '2']) {
			await using second = new ServiceProcess({ PROCESSES: processes, HL7_PORT: port, LOG_LEVEL: 'fatal' });
			const said = await second.start().then(
				() => 'it started',
				(error: Error) => error.message,
			);
			assert.match(
				said,
				/ended with 1: tributary: the hl7(-http)? surface cannot listen on 127\.0\.0\.1:\d+: the port is taken or [^\n]*\n$/,
			);
		}
		await using neighbour = new ServiceProcess({ PROCESSES: '2', DATA_DIR: service.dataDir, LOG_LEVEL: 'fatal' });
		await assert.rejects(neighbour.start(), /ended with 1: tributary: the data directory [^\n]* is in use by process \d+: [^\n]*\n$/);

		// Each connection meets one of the processes.
		const shown = async (surface: string) =>
			new Set(await Promise.all(Array.from({ length: 12 }, () => subjectShown(service.port(surface)))));
		const surfaces = ['fhir', 'hl7', 'admin', 'dimse_tls'];
		for (const surface of surfaces) assert.deepEqual(await shown(surface), new Set(['CN=server.test']), surface);
		const before = pidsOf(service);
		files.use('client');
		process.kill(service.pid, 'SIGHUP');
		const others = () => pidsOf(service).filter((pid) => !before.includes(pid));
		await eventually(() => others().length === 2 && pidsOf(service).length === 2, 'two other processes');
		for (const surface of surfaces) assert.deepEqual(await shown(surface), new Set(['CN=client.test']), surface);
		assert.equal(await service.end('SIGTERM'), 0);
	});
});
