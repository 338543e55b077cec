import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { AdministrationError } from '../context.ts';
import { filesBelow, nameOf, refuseNoFolder, unitOf } from './files.ts';
import type { Refusal } from './journal.ts';
import { type ImportOptions, type ImportReport, ImportRun, settled } from './run.ts';
import { type Answer, send, type Target } from './upload.ts';

interface FhirFolderOptions extends ImportOptions, Target {
	folder: string;
}

/** Files are sent together until they have so many bytes, since references may lead from one to another. */
const jobBytesMax = 4 * 1024 ** 3;
const pollMs = 500;

/** Imports the NDJSON files of a folder by `$import`: patients first, and files that belong together in one job. */
export async function importFhirFolder(options: FhirFolderOptions): Promise<ImportReport> {
	const { folder } = options;
	await refuseNoFolder(folder);
	const run = await ImportRun.open({ import: 'fhir-ndjson', folder, to: options.origin }, options);
	try {
		for (const units of await jobsOf(folder, run)) await importTogether(run, options, units);
		return run.report();
	} finally {
		await run.journal.close();
	}
}

async function jobsOf(folder: string, run: ImportRun): Promise<string[][]> {
	const files: { unit: string; bytes: number }[] = [];
	for await (const name of filesBelow(folder)) {
		const unit = await unitOf(folder, name);
		if (run.journal.isDone(unit)) continue;
		if (/\.(ndjson|jsonl)$/i.test(name)) files.push({ unit, bytes: (await stat(join(folder, name))).size });
		else await run.note(unit, settled({ skipped: 1 }));
	}
	const rank = ({ unit }: { unit: string }) => (/(^|\/)Patient\b/.test(unit) ? 0 : 1);
	files.sort((left, right) => rank(left) - rank(right));
	const jobs: string[][] = [];
	let bytes = Number.POSITIVE_INFINITY;
	for (const file of files) {
		if (bytes + file.bytes > jobBytesMax) {
			jobs.push([]);
			bytes = 0;
		}
		jobs.at(-1)?.push(file.unit);
		bytes += file.bytes;
	}
	return jobs;
}

/** The lines of a job, by file: `last` is the number of the last one in the job. */
interface Part {
	unit: string;
	lines: number;
	last: number;
}

async function importTogether(run: ImportRun, options: FhirFolderOptions, units: readonly string[]): Promise<void> {
	let parts: Part[] = [];
	const body = () => {
		parts = [];
		return linesOf(run, options.folder, units, parts);
	};
	if (options.isDry) {
		for await (const _ of body());
		for (const { unit, lines } of parts) await run.note(unit, settled({ taken: lines }));
		return;
	}
	const answer = await send(options, {
		method: 'POST',
		path: '/fhir/$import',
		headers: { 'Content-Type': 'application/fhir+ndjson' },
		body,
	});
	const status = answer.headers['content-location'];
	if (answer.status !== 202 || typeof status !== 'string')
		throw new AdministrationError(`the import was not accepted: ${answer.status} ${textOf(answer)}`);
	const refusals = await refusalsOf(options, await ended(run, options, new URL(status).pathname));
	let first = 1;
	for (const { unit, lines, last } of parts) {
		const own = refusals.filter(({ at = 0 }) => at >= first && at <= last).map(({ at = 0, reason }) => ({ at: at - last + lines, reason }));
		await run.note(unit, settled({ taken: lines - own.length, refused: own.length }, ...own));
		first = last + 1;
	}
}

const textOf = ({ body }: Answer) => body.toString('utf8').slice(0, 500);

/**
 * The lines of the files one after the other. A line without an id gets one that follows from its file and place, so that a second import of
 * it is no second resource.
 */
async function* linesOf(run: ImportRun, folder: string, units: readonly string[], parts: Part[]): AsyncGenerator<Buffer> {
	let number = 0;
	for (const unit of units) {
		const part = { unit, lines: 0, last: number };
		parts.push(part);
		const lines = createInterface({ input: createReadStream(join(folder, nameOf(unit))), crlfDelay: Number.POSITIVE_INFINITY });
		for await (const line of lines) {
			if (line.trim() === '') continue;
			await run.pace(1);
			part.lines++;
			part.last = ++number;
			yield Buffer.from(`${identified(line, `${nameOf(unit)} ${part.lines}`)}\n`);
		}
		part.last = number;
	}
}

function identified(line: string, place: string): string {
	try {
		const resource = JSON.parse(line) as { id?: unknown } | null;
		if (typeof resource !== 'object' || resource === null || resource.id !== undefined) return line;
	} catch {
		// The service refuses it and says why.
		return line;
	}
	const id = createHash('sha256').update(`${place}\n${line}`).digest('hex').slice(0, 32);
	return line.replace('{', `{"id":"${id}",`).replace(',}', '}');
}

async function ended(run: ImportRun, options: FhirFolderOptions, path: string): Promise<Answer> {
	for (;;) {
		const answer = await send(options, { method: 'GET', path });
		if (answer.status === 200) return answer;
		if (answer.status !== 202) throw new AdministrationError(`${textOf(answer)}; the same command sends it again`);
		run.options.progress(String(answer.headers['x-progress'] ?? 'waiting'));
		await pause(pollMs);
	}
}

interface Outcome {
	id?: string;
	issue?: { diagnostics?: string }[];
}

/** Reads which lines were refused; they are named `line-<number>`. */
async function refusalsOf(options: FhirFolderOptions, { body }: Answer): Promise<Refusal[]> {
	const { error = [] } = JSON.parse(body.toString('utf8')) as { error?: { url?: string; extension?: { severity?: string } }[] };
	const refusals: Refusal[] = [];
	for (const { url, extension } of error) {
		if (url === undefined || extension?.severity !== 'error') continue;
		const answer = await send(options, { method: 'GET', path: new URL(url).pathname });
		for (const line of answer.body.toString('utf8').split('\n').filter(Boolean)) {
			const { id = '', issue = [] } = JSON.parse(line) as Outcome;
			refusals.push({ at: Number(id.replace('line-', '')), reason: issue.map(({ diagnostics }) => diagnostics ?? '').join('; ') });
		}
	}
	return refusals;
}
