import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { filesBelow, nameOf, refuseNoFolder, unitOf } from './files.ts';
import { type ImportOptions, type ImportReport, ImportRun, type Settled, settled } from './run.ts';
import { type Answer, type Sent, send, type Target } from './upload.ts';

/** The most files that are on the way at a time; the service bounds what it holds of each. */
const atOnce = 4;

interface DicomFolderOptions extends ImportOptions, Target {
	folder: string;
}

/** Stores the DICOM files below a folder by STOW-RS, one request a file. */
export async function importDicomFolder(options: DicomFolderOptions): Promise<ImportReport> {
	const { folder } = options;
	await refuseNoFolder(folder);
	const run = await ImportRun.open({ import: 'dicom-folder', folder, to: options.origin }, options);
	try {
		await run.all(versionsBelow(folder), atOnce, async (unit) => {
			const path = join(folder, nameOf(unit));
			if (basename(path).toUpperCase() === 'DICOMDIR' || !(await looksLikeDicom(path))) return settled({ skipped: 1 });
			return options.isDry ? settled({ taken: 1 }) : store(options, () => createReadStream(path) as AsyncIterable<Buffer>);
		});
		return run.report();
	} finally {
		await run.journal.close();
	}
}

async function* versionsBelow(folder: string): AsyncGenerator<string> {
	for await (const name of filesBelow(folder)) yield unitOf(folder, name);
}

const preambleBytes = 128;

/** `DICM` with or without its preamble, or a file that begins with group 0002 or 0008, as old files do. */
async function looksLikeDicom(path: string): Promise<boolean> {
	const head = Buffer.alloc(preambleBytes + 4);
	const file = await open(path);
	try {
		const { bytesRead } = await file.read(head, 0, head.length, 0);
		if ([0, preambleBytes].some((at) => bytesRead >= at + 4 && head.toString('latin1', at, at + 4) === 'DICM')) return true;
		const group = head.readUInt16LE(0);
		return bytesRead > 8 && (group === 2 || group === 8) && head.readUInt16LE(2) < 0x100;
	} finally {
		await file.close();
	}
}

/** Stores one DICOM file, and reads the answer of the store request (PS3.18 §I.2). */
export async function store(target: Target, body: NonNullable<Sent['body']>): Promise<Settled> {
	const headers = { 'Content-Type': 'application/dicom', Accept: 'application/dicom+json' };
	const answer = await send(target, { method: 'POST', path: '/dicomweb/studies', headers, body });
	if (answer.status === 200) return settled({ taken: 1 });
	if (answer.status === 202) return settled({ taken: 1 }, ...warningsOf(answer));
	return settled({ refused: 1 }, { reason: reasonOf(answer) });
}

interface Element {
	Value?: unknown[];
}

function itemsIn({ body }: Answer, tag: string): Record<string, Element>[] {
	try {
		return ((JSON.parse(body.toString('utf8')) as Record<string, Element>)[tag]?.Value ?? []) as Record<string, Element>[];
	} catch {
		return [];
	}
}

const hex = (status: unknown) => `0x${Number(status).toString(16).toUpperCase().padStart(4, '0')}`;

/** An object that was stored with a warning is stored; the report tells of it. */
function warningsOf(answer: Answer): { reason: string }[] {
	return itemsIn(answer, '00081199').flatMap((item) => {
		const warning = item['00081196']?.Value?.[0];
		return warning === undefined
			? []
			: [{ reason: `stored with the warning ${hex(warning)}: another object of this UID, see conflict list` }];
	});
}

/** Failure reasons of PS3.18 §I.2.2 and PS3.4 annex B. */
const reasons: Readonly<Record<string, string>> = {
	'0xA700': 'the service has no room for it, or it is too long',
	'0xA900': 'the data set does not match its SOP class',
	'0xC000': 'it cannot be understood as a DICOM file',
	'0x0110': 'the service could not store it',
	'0x0122': 'its SOP class is not supported',
	'0x0124': 'the policy of the site refuses it',
};

function reasonOf(answer: Answer): string {
	const [failed] = [...itemsIn(answer, '00081198'), ...itemsIn(answer, '0008119A')];
	const status = failed?.['00081197']?.Value?.[0];
	if (status === undefined) return `the service answers ${answer.status}`;
	const code = hex(status);
	const [text] = Object.entries(reasons).filter(([known]) => known === code || (known.startsWith('0xC') && code.startsWith('0xC')));
	return `${code}${text === undefined ? '' : `: ${text[1]}`}`;
}
