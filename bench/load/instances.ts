import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { sampleDataSet } from '#test/support/data-set.ts';

/** What is sent: so many CT images, 100 a series, each with so many bytes of pixels; no UID is made twice for another `batch`. */
export interface InstanceCorpus {
	batch: number;
	count: number;
	pixelBytes: number;
}

const studyOf = (batch: number, index: number) => `1.2.826.0.1.3680043.9.${batch}.${Math.floor(index / 100)}`;

/** The SOP Instance UIDs of a batch. */
export function instanceUids({ batch, count }: Pick<InstanceCorpus, 'batch' | 'count'>): string[] {
	return Array.from({ length: count }, (_, index) => `${studyOf(batch, index)}.1.${index}`);
}

/** Writes the instances as `store-load` reads them: length and SOP Instance UID, length and data set. */
export async function writeInstances(path: string, { batch, count, pixelBytes }: InstanceCorpus): Promise<void> {
	const pixels = Buffer.alloc(pixelBytes);
	for (let at = 0; at < pixelBytes; at++) pixels[at] = (at * 31 + (at >> 8)) & 0xff;
	const file = createWriteStream(path);
	for (const [index, sopInstanceUid] of instanceUids({ batch, count }).entries()) {
		const series = Math.floor(index / 100);
		const studyUid = studyOf(batch, index);
		const dataSet = sampleDataSet({ studyUid, seriesUid: `${studyUid}.1`, sopInstanceUid, patientId: `P${batch}-${series}`, pixels });
		for (const bytes of [Buffer.from(sopInstanceUid), dataSet]) {
			const length = Buffer.alloc(4);
			length.writeUInt32LE(bytes.length);
			file.write(length);
			if (!file.write(bytes)) await new Promise<void>((resolve) => file.once('drain', () => resolve()));
		}
	}
	file.end();
	await finished(file);
}
