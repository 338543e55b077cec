/** Writes the protocol data units of the upper layer (PS3.8 §9.3) that this side sends. Lengths and numbers are big endian. */

export const pduTypes = {
	1: 'A-ASSOCIATE-RQ',
	2: 'A-ASSOCIATE-AC',
	3: 'A-ASSOCIATE-RJ',
	4: 'P-DATA-TF',
	5: 'A-RELEASE-RQ',
	6: 'A-RELEASE-RP',
	7: 'A-ABORT',
} as const;

export type PduType = (typeof pduTypes)[keyof typeof pduTypes];

/** PS3.8 §9.3.1: type, a reserved byte and the length. */
export const pduHeadBytes = 6;
/** The length, presentation context and message control header of a presentation data value. */
export const valueHeadBytes = 6;
/** The shortest P-DATA-TF that has room for data. */
export const dataBytesMin = valueHeadBytes + 2;

export function pdu(type: number, body: Buffer): Buffer {
	const head = Buffer.alloc(pduHeadBytes);
	head[0] = type;
	head.writeUInt32BE(body.length, 2);
	return Buffer.concat([head, body]);
}

/** Rejections that this side makes (PS3.8 §9.3.4). */
export const rejections = {
	'application-context': { result: 1, source: 1, reason: 2, means: 'application-context-name-not-supported' },
	calling: { result: 1, source: 1, reason: 3, means: 'calling-AE-title-not-recognized' },
	called: { result: 1, source: 1, reason: 7, means: 'called-AE-title-not-recognized' },
	version: { result: 1, source: 2, reason: 2, means: 'protocol-version-not-supported' },
	unavailable: { result: 2, source: 3, reason: 1, means: 'temporary-congestion' },
	limit: { result: 2, source: 3, reason: 2, means: 'local-limit-exceeded' },
	'client-limit': { result: 2, source: 3, reason: 2, means: 'local-limit-exceeded by the client' },
	'site-limit': { result: 2, source: 3, reason: 2, means: 'local-limit-exceeded by the site' },
} as const;

export type Rejection = keyof typeof rejections;

export function associateReject(rejection: Rejection): Buffer {
	const { result, source, reason } = rejections[rejection];
	return pdu(0x03, Buffer.from([0, result, source, reason]));
}

export const releaseRequest = pdu(0x05, Buffer.alloc(4));

export const releaseResponse = pdu(0x06, Buffer.alloc(4));

/** Abort reasons (PS3.8 §9.3.8). They matter only with the source service-provider. */
export const abortReasons = {
	'reason-not-specified': 0,
	'unrecognized-PDU': 1,
	'unexpected-PDU': 2,
	'unrecognized-PDU-parameter': 4,
	'unexpected-PDU-parameter': 5,
	'invalid-PDU-parameter-value': 6,
} as const;

export type AbortReason = keyof typeof abortReasons;

export function abort(source: 'service-user' | 'service-provider', reason: AbortReason): Buffer {
	return pdu(0x07, Buffer.from(source === 'service-user' ? [0, 0, 0, 0] : [0, 0, 2, abortReasons[reason]]));
}

/**
 * Writes a command set or data set, or a piece of it, as P-DATA-TF PDUs of one fragment each, none longer than the peer accepts.
 * @param bytes of even length, unless they are the last
 * @param isLast true when the set ends with these bytes
 */
export function dataTransfer(
	contextId: number,
	kind: 'command' | 'data-set',
	bytes: Uint8Array,
	pduBytesMax: number,
	isLast = true,
): Buffer {
	// Fragments have an even length (PS3.8 §E.1).
	const room = (pduBytesMax - valueHeadBytes) & ~1;
	const pdus: Uint8Array[] = [];
	for (let at = 0; at === 0 || at < bytes.length; at += room) {
		const fragment = bytes.subarray(at, at + room);
		const head = Buffer.alloc(pduHeadBytes + valueHeadBytes);
		head[0] = 0x04;
		head.writeUInt32BE(valueHeadBytes + fragment.length, 2);
		head.writeUInt32BE(2 + fragment.length, 6);
		head[10] = contextId;
		head[11] = (kind === 'command' ? 1 : 0) | (isLast && at + room >= bytes.length ? 2 : 0);
		pdus.push(head, fragment);
	}
	return Buffer.concat(pdus);
}
