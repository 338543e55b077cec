import { phantomOffset, phantomSide, phantomSlice } from './phantom.ts';

const explicitLittleEndian = '1.2.840.10008.1.2.1';
const ctImageStorage = '1.2.840.10008.5.1.4.1.1.2';
const uidPadding = '\0';

/** An element in explicit VR little endian (PS3.5 §7.1.2), its value padded to an even length. */
function element(group: number, number: number, vr: string, content: string | Buffer): Buffer {
	const text = typeof content === 'string' && content.length % 2 === 1 ? content + (vr === 'UI' ? uidPadding : ' ') : content;
	const value = typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
	const isLong = vr === 'OB' || vr === 'OW';
	const head = Buffer.alloc(isLong ? 12 : 8);
	head.writeUInt16LE(group, 0);
	head.writeUInt16LE(number, 2);
	head.write(vr, 4, 'latin1');
	if (isLong) head.writeUInt32LE(value.length, 8);
	else head.writeUInt16LE(value.length, 6);
	return Buffer.concat([head, value]);
}

function unsignedShort(value: number): Buffer {
	const bytes = Buffer.alloc(2);
	bytes.writeUInt16LE(value);
	return bytes;
}

export interface SampleImage {
	studyUid: string;
	/** Patient ID (0010,0020). */
	patientId: string;
	/** Patient's Name (0010,0010): family^given^middle. */
	patientName: string;
	/** The number of the slice, from 1 on, and the number of slices; 1 of 1 by default. */
	number?: number;
	of?: number;
}

/** Makes a slice of a CT as a DICOM file (PS3.10 §7). The same input gives the same bytes. */
export function sampleImage({ studyUid, patientId, patientName, number = 1, of = 1 }: SampleImage): Buffer {
	const sopInstanceUid = `${studyUid}.1.${number}`;
	const meta = Buffer.concat([
		element(0x0002, 0x0001, 'OB', Buffer.from([0, 1])),
		element(0x0002, 0x0002, 'UI', ctImageStorage),
		element(0x0002, 0x0003, 'UI', sopInstanceUid),
		element(0x0002, 0x0010, 'UI', explicitLittleEndian),
		element(0x0002, 0x0012, 'UI', '2.25.1'),
	]);
	const metaLength = Buffer.alloc(4);
	metaLength.writeUInt32LE(meta.length);
	return Buffer.concat([
		Buffer.alloc(128),
		Buffer.from('DICM', 'latin1'),
		element(0x0002, 0x0000, 'UL', metaLength),
		meta,
		element(0x0008, 0x0016, 'UI', ctImageStorage),
		element(0x0008, 0x0018, 'UI', sopInstanceUid),
		element(0x0008, 0x0020, 'DA', '20260105'),
		element(0x0008, 0x0030, 'TM', '100000'),
		element(0x0008, 0x0060, 'CS', 'CT'),
		element(0x0008, 0x1030, 'LO', 'CT of the demonstration'),
		element(0x0008, 0x103e, 'LO', 'Phantom, axial 5 mm'),
		element(0x0010, 0x0010, 'PN', patientName),
		element(0x0010, 0x0020, 'LO', patientId),
		element(0x0020, 0x000d, 'UI', studyUid),
		element(0x0020, 0x000e, 'UI', `${studyUid}.1`),
		element(0x0020, 0x0011, 'IS', '1'),
		element(0x0020, 0x0013, 'IS', String(number)),
		element(0x0020, 0x0032, 'DS', `-160\\-160\\${5 * number}`),
		element(0x0020, 0x0037, 'DS', '1\\0\\0\\0\\1\\0'),
		element(0x0028, 0x0002, 'US', unsignedShort(1)),
		element(0x0028, 0x0004, 'CS', 'MONOCHROME2'),
		element(0x0028, 0x0010, 'US', unsignedShort(phantomSide)),
		element(0x0028, 0x0011, 'US', unsignedShort(phantomSide)),
		element(0x0028, 0x0030, 'DS', '2.5\\2.5'),
		element(0x0028, 0x0100, 'US', unsignedShort(16)),
		element(0x0028, 0x0101, 'US', unsignedShort(12)),
		element(0x0028, 0x0102, 'US', unsignedShort(11)),
		element(0x0028, 0x0103, 'US', unsignedShort(0)),
		element(0x0028, 0x1050, 'DS', '40'),
		element(0x0028, 0x1051, 'DS', '400'),
		element(0x0028, 0x1052, 'DS', String(-phantomOffset)),
		element(0x0028, 0x1053, 'DS', '1'),
		element(0x0028, 0x1054, 'LO', 'HU'),
		element(0x7fe0, 0x0010, 'OW', phantomSlice(number, of)),
	]);
}

const boundary = 'sample';

/** The Content-Type of `storeBody`. */
export const storeType = `multipart/related; type="application/dicom"; boundary=${boundary}`;

/** The body of a STOW-RS request (PS3.18 §10.5.1). */
export function storeBody(...images: Buffer[]): Buffer<ArrayBuffer> {
	const head = Buffer.from(`--${boundary}\r\nContent-Type: application/dicom\r\n\r\n`);
	return Buffer.concat([...images.flatMap((image) => [head, image, Buffer.from('\r\n')]), Buffer.from(`--${boundary}--\r\n`)]);
}
