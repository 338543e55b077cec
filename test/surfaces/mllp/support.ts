import ipaddr from 'ipaddr.js';

/** A PROXY protocol version 2 header; without an address the LOCAL command. */
export function proxyVersion2(address: string | undefined, extension: Buffer = Buffer.alloc(0)): Buffer {
	const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
	const source = address === undefined ? [] : ipaddr.parse(address).toByteArray();
	const payload =
		address === undefined
			? Buffer.alloc(0)
			: Buffer.concat([Buffer.from([...source, ...source.map(() => 9), 0xdc, 4, 0x0b, 0xb8]), extension]);
	const family = address === undefined ? 0 : source.length === 4 ? 0x11 : 0x21;
	return Buffer.concat([
		signature,
		Buffer.from([address === undefined ? 0x20 : 0x21, family, payload.length >> 8, payload.length & 0xff]),
		payload,
	]);
}
