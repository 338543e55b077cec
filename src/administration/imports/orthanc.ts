import { AdministrationError } from '../context.ts';
import { store } from './dicom-files.ts';
import { type ImportOptions, type ImportReport, ImportRun, settled } from './run.ts';
import type { Target } from './upload.ts';

interface OrthancOptions extends ImportOptions, Target {
	/** The address of its REST API: `http://127.0.0.1:8042` */
	from: string;
	user: string | undefined;
	password: string | undefined;
}

const pageMax = 500;
const atOnce = 4;

/** Takes every instance of an Orthanc by its REST API and stores it by STOW-RS. Each file is passed on as it comes. */
export async function importOrthanc(options: OrthancOptions): Promise<ImportReport> {
	const run = await ImportRun.open({ import: 'orthanc', from: options.from, to: options.origin }, options);
	try {
		await run.all(instancesOf(options), atOnce, async (id) => {
			if (options.isDry) return settled({ taken: 1 });
			let fault: string | undefined;
			const outcome = await store(options, async () => {
				const answer = await ask(options, `/instances/${id}/file`);
				// It was removed meanwhile, or its file is lost.
				if (answer.status === 404 || answer.status === 500) fault = `Orthanc answers ${answer.status} for its file`;
				else if (!answer.ok) throw new AdministrationError(`Orthanc answers ${answer.status} for the instance ${id}`);
				return fault === undefined && answer.body !== null ? (answer.body as AsyncIterable<Uint8Array>) : nothing();
			});
			return fault === undefined ? outcome : settled({ refused: 1 }, { reason: fault });
		});
		return run.report();
	} finally {
		await run.journal.close();
	}
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Lists the instances page by page, in the order of Orthanc. What comes while the import runs stands at the end. */
async function* instancesOf(options: OrthancOptions): AsyncGenerator<string> {
	for (let since = 0; ; since += pageMax) {
		const answer = await ask(options, `/instances?since=${since}&limit=${pageMax}`);
		if (!answer.ok)
			throw new AdministrationError(`Orthanc answers ${answer.status}${answer.status === 401 ? '; see --user and --password-file' : ''}`);
		const ids: unknown = await answer.json();
		if (!Array.isArray(ids)) throw new AdministrationError('this is no REST API of Orthanc');
		for (const id of ids) if (typeof id === 'string' && /^[0-9a-f-]{44}$/.test(id)) yield id;
		if (ids.length < pageMax) return;
	}
}

async function ask({ from, user, password }: OrthancOptions, path: string): Promise<Response> {
	const headers = user === undefined ? {} : { Authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}` };
	try {
		return await fetch(new URL(path, from), { headers, redirect: 'error' });
	} catch (cause) {
		throw new AdministrationError(`Orthanc at ${from} does not answer: ${String((cause as Error).cause ?? cause)}`);
	}
}
