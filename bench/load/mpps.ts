import { ServiceProcess } from '#test/support/service-process.ts';
import { benchKey } from './bench-key.ts';
import { figures, httpDrivers, type LoadRequest } from './http-driver.ts';

/** Reports about procedure steps over HTTP, on embedded PostgreSQL with fsync: each opens a session, or ends one that is known. */
const seconds = Number(process.env['MPPS_BENCH_SECONDS'] ?? 5);
const sessions = 60_000;
const connectionCounts = [1, 16, 64];

function report(status: string, round: string, index: number): LoadRequest {
	const start = { '00400244': { vr: 'DA', Value: ['20261121'] }, '00400245': { vr: 'TM', Value: ['101500'] } };
	const end = { '00400250': { vr: 'DA', Value: ['20261121'] }, '00400251': { vr: 'TM', Value: ['103000'] } };
	const body = {
		sop_instance_uid: `1.2.826.0.1.3680043.9.7.${round}.${index}`,
		study_uid: `1.2.826.0.1.3680043.9.8.${round}.${index}`,
		status,
		attributes: {
			'00080060': { vr: 'CS', Value: ['CT'] },
			'00100020': { vr: 'LO', Value: [`P${index % 1000}`] },
			'00400241': { vr: 'AE', Value: ['CT_SCANNER'] },
			...(status === 'COMPLETED' ? { ...start, ...end } : start),
		},
	};
	return { method: 'POST', path: '/ingest', body: JSON.stringify(body) };
}

export async function run(): Promise<void> {
	const drivers = httpDrivers();
	for (const { version } of drivers) console.log(version);
	await using service = new ServiceProcess({ LOG_LEVEL: 'warn' });
	await service.start();
	const target = { port: service.port('mpps'), key: await benchKey(service), contentType: 'application/json', seconds };
	for (const connections of connectionCounts) {
		for (const [index, driver] of drivers.entries()) {
			for (const status of ['IN PROGRESS', 'COMPLETED']) {
				const requests = Array.from({ length: sessions }, (_, number) => report(status, `${connections}.${index + 1}`, number));
				const result = await driver.run({ ...target, requests, connections });
				console.log(`${status.padEnd(12)} ${String(connections).padStart(3)} connections  ${driver.name.padEnd(10)} ${figures(result)}`);
			}
		}
	}
}
