import { ServiceProcess } from '#test/support/service-process.ts';
import { admission, observationReport } from '../corpus.ts';
import { benchKey } from './bench-key.ts';
import { figures, httpDrivers, type LoadRequest } from './http-driver.ts';

/**
 * HL7 v2 over HTTP (`POST /v2/ingest`) on embedded PostgreSQL with fsync: the messages of the load over MLLP, one site.
 * HL7_HTTP_BENCH_CONNECTIONS lists the numbers of connections (1,16,64), HL7_HTTP_BENCH_SECONDS is how long each runs (5).
 */
const connectionCounts = (process.env['HL7_HTTP_BENCH_CONNECTIONS'] ?? '1,16,64').split(',').map(Number);
const seconds = Number(process.env['HL7_HTTP_BENCH_SECONDS'] ?? 5);
const patients = 500;
/** More than can be sent in the time: one that comes again is not applied. */
const messagesPerSecond = 6000;

const kinds: Readonly<Record<string, (sequence: number) => string>> = {
	'ORU^R01 (4 OBX)': (sequence) => observationReport(1, sequence, sequence % patients, 4),
	'ADT^A08': (sequence) => admission(1, sequence, sequence % patients),
};

export async function run(): Promise<void> {
	const drivers = httpDrivers();
	for (const { version } of drivers) console.log(version);
	await using service = new ServiceProcess({ LOG_LEVEL: 'warn' });
	await service.start();
	const target = { port: service.port('hl7'), key: await benchKey(service), contentType: 'text/plain', seconds };
	let sequence = 0;
	for (const connections of connectionCounts) {
		for (const [kind, message] of Object.entries(kinds)) {
			for (const driver of drivers) {
				const requests = Array.from({ length: messagesPerSecond * seconds }, (): LoadRequest => {
					return { method: 'POST', path: '/v2/ingest', body: message(sequence++) };
				});
				const result = await driver.run({ ...target, requests, connections });
				console.log(`${kind.padEnd(16)} ${String(connections).padStart(3)} connections  ${driver.name.padEnd(10)} ${figures(result)}`);
			}
		}
	}
}
