import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { importDicomFolder } from '#administration/imports/dicom-files.ts';
import { importFhirFolder } from '#administration/imports/fhir-files.ts';
import { importHl7Folder } from '#administration/imports/hl7-folder.ts';
import { importOrthanc } from '#administration/imports/orthanc.ts';
import type { ImportOptions, ImportReport } from '#administration/imports/run.ts';
import type { Target } from '#administration/imports/upload.ts';
import { hostAndPort } from '#core/host-and-port.ts';
import { readRuntimeFile } from '#storage/runtime-file.ts';
import type { Config } from '../config.ts';
import { type BuiltIn, type Given, option } from './built-in.ts';
import { type Argument, type CliHooks, type CliStreams, UsageError } from './command.ts';
import { printed, withOpened } from './opened.ts';
import { withContext } from './operation-context.ts';

const word = (name: string, meaning: string): Argument => ({
	...{ name, meaning, value: `<${name}>`, choices: [], isRequired: true, isRepeated: false },
});
const folder = word('folder', 'the folder, with all below it');
const common = [
	option('dry-run', 'tells what would become of it; nothing is stored'),
	option('rate', 'takes so many a second at most', { value: '<n>' }),
	option('journal', 'the file that notes what is done; by default below DATA_DIR/imports', { value: '<file>' }),
];
const target = [
	option('key-file', 'a file with an API key of the site', { value: '<file>', isRequired: true }),
	option('url', 'the FHIR port of the service; by default the one that runs on DATA_DIR', { value: '<url>' }),
];

export const importCommands: readonly BuiltIn[] = [
	command({
		name: 'import hl7-folder',
		summary: 'takes the HL7 v2 messages of a folder into a site, in the name of an integration client',
		words: [folder],
		options: [
			option('site', 'the short name of the site (its slug)', { value: '<slug>', isRequired: true }),
			option('client', 'the integration client that sent them, by its name or id', { value: '<client>', isRequired: true }),
			option('order', 'name: by the names of the files (the default); time: by MSH-7', { value: 'name|time' }),
			...common,
		],
		import: async (given, streams, hooks, config) => {
			const order = given.text('order') ?? 'name';
			if (order !== 'name' && order !== 'time') throw new UsageError('--order must be name or time');
			const named = {
				folder: resolve(given.words[0] ?? ''),
				site: required(given, 'site'),
				client: required(given, 'client'),
				order,
			} as const;
			const options = optionsOf(given, streams, config, ['hl7-folder', ...Object.values(named)]);
			return withOpened(
				config,
				async (opened) => {
					const ingest = await hooks.openIngest(opened.databaseUrl, config.limits);
					try {
						return await withContext(opened, streams, hooks, (context) =>
							importHl7Folder(context, { ...options, ...named, bytesMax: config.limits.mllpFrameBytesMax, process: ingest.process }),
						);
					} finally {
						await ingest.close();
					}
				},
				{ create: false },
			);
		},
	}),
	command({
		name: 'import dicom-folder',
		summary: 'stores the DICOM files of a folder, with all folders below it, through a running service',
		words: [folder],
		options: [...target, ...common],
		import: async (given, streams, _hooks, config) => {
			const [path, to] = [resolve(given.words[0] ?? ''), await targetOf(given, config)];
			return importDicomFolder({ ...optionsOf(given, streams, config, ['dicom-folder', path, to.origin]), ...to, folder: path });
		},
	}),
	command({
		name: 'import orthanc',
		summary: 'stores every instance of an Orthanc, read by its REST API, through a running service',
		words: [word('orthanc', 'the URL of its REST API, such as http://127.0.0.1:8042')],
		options: [
			option('user', 'who asks Orthanc', { value: '<name>' }),
			option('password-file', 'a file with the password of that user', { value: '<file>' }),
			...target,
			...common,
		],
		import: async (given, streams, _hooks, config) => {
			const to = await targetOf(given, config);
			const from = originOf(given.words[0] ?? '', 'the URL of Orthanc');
			const passwordFile = given.text('password-file');
			const password = passwordFile === undefined ? undefined : await secretIn(passwordFile);
			const options = optionsOf(given, streams, config, ['orthanc', from, to.origin]);
			return importOrthanc({ ...options, ...to, from, user: given.text('user'), password });
		},
	}),
	command({
		name: 'import fhir-ndjson',
		summary: 'imports the NDJSON files of a folder (Bulk Data) through $import of a running service',
		words: [folder],
		options: [...target, ...common],
		import: async (given, streams, _hooks, config) => {
			const [path, to] = [resolve(given.words[0] ?? ''), await targetOf(given, config)];
			return importFhirFolder({ ...optionsOf(given, streams, config, ['fhir-ndjson', path, to.origin]), ...to, folder: path });
		},
	}),
];

interface ImportCommand extends Omit<BuiltIn, 'run'> {
	import(given: Given, streams: CliStreams, hooks: CliHooks, config: Config): Promise<ImportReport>;
}

/** An import of which something was refused ends with 1. */
function command({ import: carryOut, ...described }: ImportCommand): BuiltIn {
	return {
		...described,
		run: async (given, streams, hooks) => {
			const report = await carryOut(given, streams, hooks, hooks.readConfig());
			printed(report, given, streams);
			return report.refused > 0 ? 1 : 0;
		},
	};
}

const required = (given: Given, name: string) => given.text(name) ?? '';

function optionsOf(given: Given, { stderr }: CliStreams, { DATA_DIR }: Config, of: readonly string[]): ImportOptions {
	const rate = given.text('rate');
	if (rate !== undefined && !(Number(rate) > 0)) throw new UsageError('--rate must be a number above 0');
	const name = `${of[0]}-${createHash('sha256').update(of.join('\n')).digest('hex').slice(0, 16)}.journal`;
	return {
		journal: given.text('journal') ?? join(DATA_DIR, 'imports', name),
		isDry: given.has('dry-run'),
		rate: rate === undefined ? undefined : Number(rate),
		progress: (text) => stderr.write(`${text}\n`),
	};
}

async function targetOf(given: Given, { DATA_DIR }: Config): Promise<Target> {
	const key = await secretIn(required(given, 'key-file'));
	const url = given.text('url');
	if (url !== undefined) return { key, origin: originOf(url, '--url') };
	const fhir = readRuntimeFile(DATA_DIR)?.surfaces['fhir'];
	if (fhir === undefined) throw new Error(`no service is running on ${DATA_DIR}; --url names one`);
	return { key, origin: `${fhir.tls ? 'https' : 'http'}://${hostAndPort(fhir)}` };
}

async function secretIn(path: string): Promise<string> {
	return (await readFile(path, 'utf8')).trim();
}

function originOf(text: string, called: string): string {
	if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw new UsageError(`${called} must be a URL with http or https`);
	return new URL(text).origin;
}
