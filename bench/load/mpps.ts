import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { httpDrivers, type LoadRequest } from './http-driver.ts';
import { closedHttp, type HttpWork } from './http-lines.ts';

/** Reports about procedure steps over HTTP: each opens a procedure step, or ends one that is known. */

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

export async function mpps(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const drivers = httpDrivers();
	await using subject = await Subject.open('Tributary');
	recorder.database = await subject.settings();
	for (const connections of options.isQuick ? [16] : [1, 16, 64]) {
		for (const driver of drivers) {
			for (const status of ['IN PROGRESS', 'COMPLETED']) {
				let index = 0;
				const work: HttpWork = {
					section: 'mpps',
					name: `Procedure step, ${status}`,
					surface: 'mpps',
					contentType: 'application/json',
					next: () => report(status, `${connections}.${drivers.indexOf(driver)}`, index++),
					perSecond: 10_000,
					stored: (from) => from.number('select count(*) from mpps_event where site_id = $1', [subject.siteId]),
				};
				await closedHttp(subject, work, { drivers: [driver], connections, recorder, options });
			}
		}
	}
}
