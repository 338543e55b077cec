import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Recorder } from '../suite/recorder.ts';
import type { Subject } from '../suite/subject.ts';
import { writeCorpus } from './fhir-corpus.ts';

async function post(subject: Subject, path: string, file: string): Promise<string> {
	const headers = { 'X-API-Key': subject.key, 'Content-Type': 'application/fhir+ndjson', 'Content-Length': statSync(file).size };
	return new Promise((resolve, reject) => {
		const sent = httpRequest({ host: '127.0.0.1', port: subject.port('fhir'), path, method: 'POST', headers }, (answer) => {
			answer.resume();
			answer.on('end', () =>
				answer.statusCode === 202 ? resolve(String(answer.headers['content-location'])) : reject(new Error(`import: ${answer.statusCode}`)),
			);
		});
		sent.on('error', reject);
		createReadStream(file).pipe(sent);
	});
}

/** Waits for the end of a job. */
async function finished(subject: Subject, url: string): Promise<void> {
	for (;;) {
		const answer = await fetch(url, { headers: { 'X-API-Key': subject.key } });
		const text = await answer.text();
		if (answer.status === 200) return;
		if (answer.status !== 202) throw new Error(`the job ended with ${answer.status}: ${text.slice(0, 500)}`);
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}

async function timed(work: () => Promise<void>): Promise<number> {
	const startedMs = performance.now();
	await work();
	return (performance.now() - startedMs) / 1000;
}

/** So many patients with five observations each, by `$import`, then `$export` of them all; tells how fast both were where there is a recorder. */
export async function loadCorpus(subject: Subject, size: number, recorder?: Recorder): Promise<void> {
	const directory = mkdtempSync(join(tmpdir(), 'tributary-fhir-bench-'));
	const line = (work: string, seconds: number) =>
		recorder?.line({
			section: 'bulk',
			work: `${work}, ${size.toLocaleString('en')} patients`,
			subject: subject.name,
			kind: 'product',
			perSecond: (size * 6) / seconds,
			p50Ms: null,
			p99Ms: null,
			failed: 0,
			driver: 'one job',
		});
	try {
		const file = join(directory, 'corpus.ndjson');
		await writeCorpus(file, size);
		const counted = () =>
			subject.number('(select count(*) from patient where site_id = $1) + (select count(*) from observation where site_id = $1)', [
				subject.siteId,
			]);
		const before = await counted();
		line('$import, resources', await timed(async () => finished(subject, await post(subject, '/fhir/$import', file))));
		const stored = (await counted()) - before;
		if (stored !== size * 6) throw new Error(`the import stored ${stored} of ${size * 6} resources`);
		if (recorder !== undefined) {
			const headers = { 'X-API-Key': subject.key, Prefer: 'respond-async', Accept: 'application/fhir+json' };
			const exporting = async () => {
				const kickOff = await fetch(`http://127.0.0.1:${subject.port('fhir')}/fhir/$export`, { headers });
				await finished(subject, String(kickOff.headers.get('content-location')));
			};
			line('$export, resources', await timed(exporting));
		}
		await subject.vacuum();
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}
