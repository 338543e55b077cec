import { ServiceProcess } from '#test/support/service-process.ts';
import { benchKey } from './bench-key.ts';
import { type LoadRequest, runWrk, wrkVersion } from './wrk.ts';

/** Reports about procedure steps over HTTP, on embedded PostgreSQL with fsync: each opens a session, or ends one that is known. */
const seconds = 5;
const sessions = 60_000;
const connectionCounts = [1, 16, 64];

function report(status: string, connections: number, index: number): LoadRequest {
	const start = { '00400244': { vr: 'DA', Value: ['20261121'] }, '00400245': { vr: 'TM', Value: ['101500'] } };
	const end = { '00400250': { vr: 'DA', Value: ['20261121'] }, '00400251': { vr: 'TM', Value: ['103000'] } };
	const body = {
		sop_instance_uid: `1.2.826.0.1.3680043.9.7.${connections}.${index}`,
		study_uid: `1.2.826.0.1.3680043.9.8.${connections}.${index}`,
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
	const version = wrkVersion();
	if (version === undefined) throw new Error('the MPPS load needs wrk (Debian: apt-get install wrk)');
	console.log(version);
	await using service = new ServiceProcess({ LOG_LEVEL: 'warn' });
	await service.start();
	const target = { port: service.port('mpps'), key: await benchKey(service), contentType: 'application/json', seconds };
	for (const connections of connectionCounts) {
		for (const status of ['IN PROGRESS', 'COMPLETED']) {
			const requests = Array.from({ length: sessions }, (_, index) => report(status, connections, index));
			const { perSecond, p50Ms, p99Ms, failed } = await runWrk({ ...target, requests, connections });
			const figures = `${String(Math.round(perSecond)).padStart(6)}/s  p50 ${p50Ms.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms`;
			console.log(`${status.padEnd(12)} ${connections} connections  ${figures}${failed > 0 ? `  ${failed} FAILED` : ''}`);
		}
	}
}
