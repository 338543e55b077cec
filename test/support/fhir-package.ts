import { gzipSync } from 'node:zlib';

/** Makes a package.tgz as the FHIR package specification has it. A name above 100 bytes gets a pax header. */
export function fhirPackage(files: Readonly<Record<string, object>>, about = { name: 'example.fhir.profiles', version: '1.0.0' }): Buffer {
	const entries = Object.entries({ 'package/package.json': about, ...files }).flatMap(([name, content]) => {
		const pax = name.length > 100 ? [tarEntry('PaxHeader', 'x', Buffer.from(record(`path=${name}`)))] : [];
		return [...pax, tarEntry(name.slice(0, 100), '0', Buffer.from(JSON.stringify(content)))];
	});
	return gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]));
}

/** A record of a pax header begins with its own length. */
function record(text: string): string {
	const length = text.length + 2;
	const digits = String(length + String(length).length).length;
	return `${length + digits} ${text}\n`;
}

/** An entry of a tar archive. */
export function tarEntry(name: string, kind: string, content: Buffer): Buffer {
	const header = Buffer.alloc(512);
	header.write(name, 0);
	header.write('0000644\0', 100);
	header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
	header.write(kind, 156);
	header.write('ustar\0', 257);
	header.write('        ', 148);
	const sum = header.reduce((total, byte) => total + byte, 0);
	header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
	return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
