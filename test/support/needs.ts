import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What some tests need besides Node.js. Without it they are skipped, for the reason that is given here. */
interface Need {
	/** The file that shows that it is there; undefined: it is not. */
	found: string | undefined;
	reason: string;
}

/** The shared corpus lies beside the repository, or where TRIBUTARY_CORPUS says. */
export const corpusDirectory = process.env['TRIBUTARY_CORPUS'] ?? join(import.meta.dirname, '../../../shared/corpus');

const dcmtkPrograms = ['storescu', 'storescp', 'echoscu', 'findscu', 'getscu', 'movescu', 'dump2dcm', 'dcm2json', 'dcmconv', 'dcmdump'];
const pythonFolders = ['/usr/lib/python3/dist-packages', '/usr/local/lib/python3.11/dist-packages'];
const orthancPlugins = ['/usr/share/orthanc/plugins/libOrthancDicomWeb.so'];
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
		found: [...(process.env['PYTHONPATH'] ?? '').split(delimiter), ...pythonFolders]
			.map((folder) => join(folder, 'pynetdicom/__init__.py'))
			.find((path) => existsSync(path)),
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
} satisfies Record<string, Need>;

export type NeedName = keyof typeof needs;

/** For `skip` of a test: the reason of the first that is missing, or false. */
export function without(...names: NeedName[]): string | false {
	const missing = names.find((name) => needs[name].found === undefined);
	return missing === undefined ? false : needs[missing].reason;
}

function programOf(name: string): string | undefined {
	const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/sbin'].filter((folder) => folder !== '');
	return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
