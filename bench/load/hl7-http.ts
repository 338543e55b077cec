import { admission, observationReport } from '../corpus.ts';
import type { SuiteOptions } from '../suite/options.ts';
import type { Recorder } from '../suite/recorder.ts';
import { Subject } from '../suite/subject.ts';
import { httpDrivers, type LoadRequest } from './http-driver.ts';
import { closedHttp, type HttpWork, openHttp } from './http-lines.ts';

/** HL7 v2 over HTTP (`POST /v2/ingest`): the messages of the load over MLLP, one site. */
const patients = 500;

export async function hl7Http(recorder: Recorder, options: SuiteOptions): Promise<void> {
	const drivers = httpDrivers();
	await using subject = await Subject.open('Tributary');
	recorder.database = await subject.settings();
	let sequence = 0;
	const kinds: Readonly<Record<string, (sequence: number) => string>> = {
		'ORU^R01 (4 OBX) over HTTP': (number) => observationReport(1, number, number % patients, 4),
		'ADT^A08 over HTTP': (number) => admission(1, number, number % patients),
	};
	for (const [name, message] of Object.entries(kinds)) {
		const work: HttpWork = {
			section: 'hl7-http',
			name,
			surface: 'hl7',
			contentType: 'text/plain',
			next: (): LoadRequest => ({ method: 'POST', path: '/v2/ingest', body: message(sequence++) }),
			// More than can be sent in the time: one that comes again is not applied.
			perSecond: 6000,
			stored: (from) => from.number("select count(*) from message_log where site_id = $1 and outcome = 'accepted'", [subject.siteId]),
		};
		let most = 0;
		for (const connections of options.isQuick ? [16] : [1, 16, 64]) {
			most = (await closedHttp(subject, work, { drivers, connections, recorder, options }))?.perSecond ?? 0;
		}
		await openHttp(subject, work, { perSecond: most / 2, connections: 64, recorder, options });
	}
}
