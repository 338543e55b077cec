import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { previousRelease } from './previous-release.ts';

/** What some tests need besides Node.js. Without it they are skipped, for the reason that is given here. */
interface Need {
	/** The file that shows that it is there; undefined: it is not. */
	found: string | undefined;
	reason: string;
}

/** The shared corpus lies beside the repository, or where TRIBUTARY_CORPUS says. */
export const corpusDirectory = process.env['TRIBUTARY_CORPUS'] ?? join(import.meta.dirname, '../../../shared/corpus');

/** Bundles of Synthea, which the corpus does not have. */
export const bundleDirectory = process.env['TRIBUTARY_BUNDLES'];

/** TestScripts of others, which are not part of this repository. */
export const testScriptDirectory = process.env['TRIBUTARY_TESTSCRIPTS'];

const dcmtkPrograms = ['storescu', 'storescp', 'echoscu', 'findscu', 'getscu', 'movescu', 'dump2dcm', 'dcm2json', 'dcmconv', 'dcmdump'];
const orthancPlugins = ['/usr/share/orthanc/plugins/libOrthancDicomWeb.so'];
const rsyslogModules = ['/usr/lib/x86_64-linux-gnu/rsyslog/lmnsd_gtls.so', '/usr/lib/aarch64-linux-gnu/rsyslog/lmnsd_gtls.so'];
const chromiumPrograms = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

export const needs = {
	corpus: {
		found: [join(corpusDirectory, 'index.csv')].find((path) => existsSync(path)),
		reason: 'the shared corpus is not there',
	},
	dcmtk: {
		found: dcmtkPrograms.every((name) => programOf(name)) ? programOf('storescu') : undefined,
		reason: 'DCMTK is not installed',
	},
	pynetdicom: {
		/** The Python that can import it. It is looked for when somebody asks, because each one has to be started. */
		get found(): string | undefined {
			pythonFound ??= { path: pythons().find(hasPynetdicom) };
			return pythonFound.path;
		},
		reason: 'pynetdicom is not installed',
	},
	orthanc: {
		found: programOf('Orthanc') === undefined ? undefined : orthancPlugins.find((path) => existsSync(path)),
		reason: 'Orthanc or its DICOMweb plugin is not installed',
	},
	chromium: {
		found: chromiumPrograms.map(programOf).find((path) => path !== undefined),
		reason: 'Chromium is not installed',
	},
	rsyslog: {
		/** It speaks TLS by a module of its own. */
		found: rsyslogModules.some((path) => existsSync(path)) ? programOf('rsyslogd') : undefined,
		reason: 'rsyslog with its gtls module is not installed',
	},
	openssl: {
		found: programOf('openssl'),
		reason: 'openssl is not installed',
	},
	promtool: {
		found: programOf('promtool'),
		reason: 'promtool of Prometheus is not installed',
	},
	prometheus: {
		found: programOf('prometheus'),
		reason: 'Prometheus is not installed',
	},
	amtool: {
		found: programOf('amtool'),
		reason: 'amtool of Alertmanager is not installed',
	},
	pgbouncer: {
		found: programOf('pgbouncer'),
		reason: 'PgBouncer is not installed',
	},
	pgbouncer_21: {
		found: process.env['TRIBUTARY_PGBOUNCER'],
		reason: 'TRIBUTARY_PGBOUNCER names no PgBouncer 1.21 or newer',
	},
	bucket: {
		found: process.env['TRIBUTARY_BUCKET'],
		reason: 'TRIBUTARY_BUCKET names no bucket of a real store',
	},
	systemd: {
		found: programOf('systemd-analyze'),
		reason: 'systemd-analyze is not installed',
	},
	kubectl: {
		found: programOf('kubectl'),
		reason: 'kubectl is not installed',
	},
	postgresql15: {
		/** The folder of its programs, as Debian installs them. */
		found: ['/usr/lib/postgresql/15/bin'].find((folder) => existsSync(join(folder, 'pg_basebackup'))),
		reason: 'PostgreSQL 15 of Debian is not installed',
	},
	history: {
		/** The commit of the release before this one. */
		get found(): string | undefined {
			return previousRelease();
		},
		reason: 'the history of git has no release before this one',
	},
	bundles: {
		found: bundleDirectory !== undefined && existsSync(bundleDirectory) ? bundleDirectory : undefined,
		reason: 'TRIBUTARY_BUNDLES names no directory of FHIR bundles',
	},
	testscripts: {
		found: testScriptDirectory !== undefined && existsSync(testScriptDirectory) ? testScriptDirectory : undefined,
		reason: 'TRIBUTARY_TESTSCRIPTS names no directory of FHIR TestScripts',
	},
} satisfies Record<string, Need>;

export type NeedName = keyof typeof needs;

/** For `skip` of a test: the reason of the first that is missing, or false. */
export function without(...names: NeedName[]): string | false {
	const missing = names.find((name) => needs[name].found === undefined);
	return missing === undefined ? false : needs[missing].reason;
}

/** The names of what this machine has, by the rules above. */
export function needsMet(): NeedName[] {
	return (Object.keys(needs) as NeedName[]).filter((name) => needs[name].found !== undefined);
}

let pythonFound: { path: string | undefined } | undefined;

/** Every Python 3 on the path, each once; a shim of pyenv may lead to one of several. */
function pythons(): string[] {
	const found = folders()
		.filter((folder) => existsSync(folder))
		.flatMap((folder) => readdirSync(folder).flatMap((name) => (/^python3(?:\.\d+)?$/.test(name) ? [join(folder, name)] : [])));
	return [...new Map(found.map((path) => [path.includes('/shims/') ? path : realpathSync(path), path])).values()];
}

function hasPynetdicom(python: string): boolean {
	return spawnSync(python, ['-c', 'import pynetdicom'], { stdio: 'ignore', timeout: 20_000 }).status === 0;
}

function folders(): string[] {
	return [...new Set([...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/sbin'])].filter((folder) => folder !== '');
}

function programOf(name: string): string | undefined {
	return folders()
		.map((folder) => join(folder, name))
		.find((path) => existsSync(path));
}
