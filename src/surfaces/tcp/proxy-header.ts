import { isIPv4, isIPv6, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The PROXY protocol, versions 1 and 2 (haproxy, proxy-protocol.txt §2). */
export type ProxyHeader =
	/** The bytes so far are the beginning of a header. */
	| { kind: 'incomplete' }
	/** The bytes begin no header, or an invalid one. */
	| { kind: 'none' }
	/** `address` is undefined for LOCAL and UNKNOWN, when the proxy speaks for itself. */
	| { kind: 'header'; address: string | undefined; length: number };

const signature1 = Buffer.from('PROXY ', 'latin1');
const signature2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** The longest version 1 line, CR LF included (§2.1). */
const line1BytesMax = 107;
/** Room for the addresses and the extension fields that balancers add. No balancer sends more. */
const payload2BytesMax = 4096;

/** Tells whether the bytes are the signature of either version, or may become one when more arrive. */
export function proxySignature(bytes: Buffer): 'yes' | 'maybe' | 'no' {
	for (const signature of [signature1, signature2]) {
		const length = Math.min(signature.length, bytes.length);
		if (bytes.compare(signature, 0, length, 0, length) === 0) return length === signature.length ? 'yes' : 'maybe';
	}
	return 'no';
}

function readVersion1(bytes: Buffer): ProxyHeader {
	const end = bytes.subarray(0, line1BytesMax).indexOf('\r\n');
	if (end === -1) return { kind: bytes.length < line1BytesMax ? 'incomplete' : 'none' };
	const [, family, source, destination, sourcePort, destinationPort, ...more] = bytes.toString('latin1', 0, end).split(' ');
	if (family === 'UNKNOWN') return { kind: 'header', address: undefined, length: end + 2 };
	const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : () => false;
	const port = /^\d{1,5}$/;
	if (!isAddress(source ?? '') || !isAddress(destination ?? '') || more.length > 0) return { kind: 'none' };
	if (!port.test(sourcePort ?? '') || !port.test(destinationPort ?? '')) return { kind: 'none' };
	return { kind: 'header', address: source, length: end + 2 };
}

function readVersion2(bytes: Buffer): ProxyHeader {
	if (bytes.length < 16) return { kind: 'incomplete' };
	const command = bytes.readUInt8(12);
	const family = bytes.readUInt8(13);
	const payload = bytes.readUInt16BE(14);
	if ((command !== 0x20 && command !== 0x21) || payload > payload2BytesMax) return { kind: 'none' };
	const length = 16 + payload;
	if (bytes.length < length) return { kind: 'incomplete' };
	if (command === 0x20 || family === 0x00) return { kind: 'header', address: undefined, length };
	const addressBytes = family === 0x11 ? 4 : family === 0x21 ? 16 : 0;
	if (addressBytes === 0 || payload < 2 * addressBytes + 4) return { kind: 'none' };
	return { kind: 'header', address: ipaddr.fromByteArray([...bytes.subarray(16, 16 + addressBytes)]).toString(), length };
}

export function readProxyHeader(bytes: Buffer): ProxyHeader {
	const signature = proxySignature(bytes);
	if (signature !== 'yes') return { kind: signature === 'maybe' ? 'incomplete' : 'none' };
	return bytes[0] === signature1[0] ? readVersion1(bytes) : readVersion2(bytes);
}

/**
 * Waits for the header that a trusted proxy sends first; without it every sender would have the proxy's address. `received` gets the
 * paused socket, with the bytes after the header put back. `refused` is called when there is no header within `withinMs`.
 */
export function awaitProxyHeader(
	socket: Socket,
	withinMs: number,
	received: (address: string | undefined) => void,
	refused: () => void,
): void {
	let bytes: Buffer = Buffer.alloc(0);
	const stop = () => {
		clearTimeout(timer);
		socket.off('data', onData).off('end', refuse).off('close', stop);
	};
	const refuse = () => {
		stop();
		refused();
	};
	const onData = (chunk: Buffer) => {
		bytes = Buffer.concat([bytes, chunk]);
		const header = readProxyHeader(bytes);
		if (header.kind === 'incomplete') return;
		if (header.kind === 'none') {
			refuse();
			return;
		}
		stop();
		socket.pause();
		if (bytes.length > header.length) socket.unshift(bytes.subarray(header.length));
		received(header.address);
	};
	const timer = setTimeout(refuse, withinMs);
	socket.on('data', onData).once('end', refuse).once('close', stop);
}
