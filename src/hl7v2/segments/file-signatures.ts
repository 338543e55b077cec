/** The beginnings of files as Latin-1, by media type, with the offset at which each stands. Types of text alone have none. */
const signatures: Readonly<Record<string, readonly (readonly [offset: number, signature: string])[]>> = {
	'application/pdf': [[0, '%PDF-']],
	'application/rtf': [[0, '{\\rtf']],
	'application/postscript': [[0, '%!PS']],
	'application/msword': [
		[0, '\xd0\xcf\x11\xe0'],
		[0, 'PK\x03\x04'],
	],
	'application/zip': [[0, 'PK\x03\x04']],
	'application/gzip': [[0, '\x1f\x8b']],
	'audio/basic': [[0, '.snd']],
	'audio/flac': [[0, 'fLaC']],
	'audio/mp4': [[4, 'ftyp']],
	'audio/mpeg': [
		[0, 'ID3'],
		[0, '\xff\xfb'],
		[0, '\xff\xf3'],
		[0, '\xff\xf2'],
	],
	'audio/ogg': [[0, 'OggS']],
	'audio/wav': [[8, 'WAVE']],
	'audio/x-wav': [[8, 'WAVE']],
	'video/mp4': [[4, 'ftyp']],
	'video/mpeg': [
		[0, '\0\0\x01\xba'],
		[0, '\0\0\x01\xb3'],
	],
	'video/ogg': [[0, 'OggS']],
	'video/quicktime': [
		[4, 'ftyp'],
		[4, 'moov'],
	],
	'video/webm': [[0, '\x1a\x45\xdf\xa3']],
};
/** Formats that are ZIP files: those of Office and OpenDocument. */
const zipped = /^application\/vnd\.(?:openxmlformats-officedocument|oasis\.opendocument)\./;
/** The base64 length of the first 18 bytes. */
const beginningLength = 24;

/** Tells whether base64 holds a file that begins as those of its type do. False for a type of which no beginning is known. */
export function beginsAs(base64: string, contentType: string): boolean {
	const type = zipped.test(contentType) ? 'application/zip' : contentType;
	const known = Object.hasOwn(signatures, type) ? (signatures[type] ?? []) : [];
	const beginning = Buffer.from(base64.slice(0, beginningLength), 'base64').toString('latin1');
	return known.some(([offset, signature]) => beginning.startsWith(signature, offset));
}
