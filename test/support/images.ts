import { setSite } from '#administration/sites.ts';
import { associate, data, releaseRequest, statusOf, store, value } from '#test/surfaces/dimse/peer.ts';
import { explicitLittleEndian } from '#test/surfaces/dimse/support.ts';
import { ctStorage, element, sequence } from './data-set.ts';
import { eventually } from './eventually.ts';
import type { TestService } from './service.ts';

/** An image as a test states it; what is left out, its data set does not have. */
export interface GivenImage {
	studyUid: string;
	seriesUid: string;
	sopInstanceUid: string;
	sopClassUid?: string;
	modality?: string;
	/** DA and TM. */
	date?: string;
	time?: string;
	accession?: string;
	accessionIssuer?: string;
	referrer?: string;
	station?: string;
	studyDescription?: string;
	seriesDescription?: string;
	patientId?: string;
	patientIssuer?: string;
	/** Universal Entity ID of the issuer; its type is ISO. */
	universalIssuer?: string;
	patientName?: string;
	birthDate?: string;
	sex?: string;
	bodyPart?: string;
	seriesNumber?: number;
	number?: number;
}

export function imageDataSet(image: GivenImage): Buffer {
	const of = (tag: number, vr: string, text: string | number | undefined) =>
		text === undefined ? [] : [element(tag, vr, typeof text === 'number' ? String(text) : text)];
	return Buffer.concat([
		...of(0x0008_0016, 'UI', image.sopClassUid ?? ctStorage),
		...of(0x0008_0018, 'UI', image.sopInstanceUid),
		...of(0x0008_0020, 'DA', image.date),
		...of(0x0008_0021, 'DA', image.date),
		...of(0x0008_0030, 'TM', image.time),
		...of(0x0008_0031, 'TM', image.time),
		...of(0x0008_0050, 'SH', image.accession),
		...(image.accessionIssuer === undefined ? [] : [sequence(0x0008_0051, [element(0x0040_0031, 'UT', image.accessionIssuer)])]),
		...of(0x0008_0060, 'CS', image.modality),
		...of(0x0008_0090, 'PN', image.referrer),
		...of(0x0008_1010, 'SH', image.station),
		...of(0x0008_1030, 'LO', image.studyDescription),
		...of(0x0008_103e, 'LO', image.seriesDescription),
		...of(0x0010_0010, 'PN', image.patientName ?? (image.patientId === undefined ? undefined : `Name^${image.patientId}`)),
		...of(0x0010_0020, 'LO', image.patientId),
		...of(0x0010_0021, 'LO', image.patientIssuer),
		...(image.universalIssuer === undefined
			? []
			: [sequence(0x0010_0024, [Buffer.concat([element(0x0040_0032, 'UT', image.universalIssuer), element(0x0040_0033, 'CS', 'ISO')])])]),
		...of(0x0010_0030, 'DA', image.birthDate),
		...of(0x0010_0040, 'CS', image.sex),
		...of(0x0018_0015, 'CS', image.bodyPart),
		...of(0x0020_000d, 'UI', image.studyUid),
		...of(0x0020_000e, 'UI', image.seriesUid),
		...of(0x0020_0011, 'IS', image.seriesNumber),
		...of(0x0020_0013, 'IS', image.number),
		element(0x7fe0_0010, 'OW', Buffer.alloc(64)),
	]);
}

/** Sends images by C-STORE, one after the other over one association. @throws Error unless each is answered with success */
export async function sendImages(port: number, calledAe: string, images: readonly GivenImage[]): Promise<void> {
	const classes = [...new Set(images.map(({ sopClassUid = ctStorage }) => sopClassUid))];
	const contexts = Object.fromEntries(
		classes.map((uid, index): [number, [string, string]] => [index * 2 + 1, [uid, explicitLittleEndian]]),
	);
	const ends: (() => void)[] = [];
	const peer = await associate({ after: (end) => ends.push(end) }, port, { called: calledAe, contexts });
	try {
		for (const [index, image] of images.entries()) {
			const { sopClassUid = ctStorage, sopInstanceUid } = image;
			const context = classes.indexOf(sopClassUid) * 2 + 1;
			const command = store(index + 1, { 2: sopClassUid, 4096: sopInstanceUid });
			peer.write(data(value(context, 'command', command)), data(value(context, 'data', imageDataSet(image))));
			const status = statusOf(await peer.next());
			if (status !== 0) throw new Error(`${sopInstanceUid} was answered with ${status?.toString(16)}`);
		}
		await peer.ask(releaseRequest);
	} finally {
		for (const end of ends) end();
	}
}

/** Gives the site its slug in upper case as AE title, and waits until images can be sent to it. */
export async function opened(service: TestService, slug: string): Promise<void> {
	const aeTitle = slug.toUpperCase();
	await setSite(service.administration, { slug, ae_title: aeTitle });
	const isOpen = () =>
		sendImages(service.port('dimse'), aeTitle, []).then(
			() => true,
			() => false,
		);
	await eventually(isOpen, `the AE title ${aeTitle}`);
}
