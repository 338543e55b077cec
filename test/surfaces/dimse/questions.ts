import type { TestContext } from 'node:test';
import type { Archive } from '#imaging/archive.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import { element } from '#test/support/data-set.ts';
import { associate, commandSet, data, item, type Peer, type Proposal, type ReceivedPdu, responseOf, statusOf, value } from './peer.ts';
import { ctImage, explicitLittleEndian, type SetUp, startSurface } from './support.ts';

/** Queries and retrievals as a peer asks them. */

export const studyFind = '1.2.840.10008.5.1.4.1.2.2.1';
export const studyMove = '1.2.840.10008.5.1.4.1.2.2.2';
export const studyGet = '1.2.840.10008.5.1.4.1.2.2.3';

export const questionContexts: Record<number, [string, ...string[]]> = {
	1: [studyFind, explicitLittleEndian],
	3: [studyMove, explicitLittleEndian],
	5: [studyGet, explicitLittleEndian],
	7: [ctImage, explicitLittleEndian],
};

/** SCP/SCU role selection. */
export function role(sopClassUid: string, scu: number, scp: number): Buffer {
	return item(0x54, Buffer.from([0, sopClassUid.length]), sopClassUid, Buffer.from([scu, scp]));
}

export function extension(sopClassUid: string, ...information: number[]): Buffer {
	return item(0x56, Buffer.from([0, sopClassUid.length]), sopClassUid, Buffer.from(information));
}

/** A surface whose archive a test plays, and a peer that may query it and be sent CT images. */
export async function startArchive(test: TestContext, archive: Partial<Archive>, setUp: SetUp = {}, proposal: Proposal = {}) {
	const surface = await startSurface(test, { archive, ...setUp });
	surface.directory.grants.add('query');
	const peer = await associate(test, surface.port, { contexts: questionContexts, user: [role(ctImage, 1, 1)], ...proposal });
	return { ...surface, peer };
}

export function identifier(...elements: [tag: number, vr: string, text: string][]): Buffer {
	return Buffer.concat(elements.map(([tag, vr, text]) => element(tag, vr, text)));
}

export const oneStudy = identifier([0x0008_0052, 'CS', 'STUDY'], [0x0020_000d, 'UI', '1.2']);

const fields = { 1: [0x0020, studyFind], 3: [0x0021, studyMove], 5: [0x0010, studyGet] } as const;

/** C-FIND on context 1, C-MOVE on 3, C-GET on 5. */
export function ask(contextId: 1 | 3 | 5, dataSet: Buffer, destination?: string): Buffer {
	const [field, sopClassUid] = fields[contextId];
	const more = destination === undefined ? {} : { 1536: destination };
	const command = commandSet({ 2: sopClassUid, 256: field, 272: 9, ...more, 1792: 0, 2048: 0 });
	return data(value(contextId, 'command', command), value(contextId, 'data', dataSet));
}

export const cancel = (contextId: number) => data(value(contextId, 'command', commandSet({ 256: 0x0fff, 288: 9, 2048: 0x0101 })));

export function storeResponse(messageId: number, status: number, contextId = 7): Buffer {
	return data(value(contextId, 'command', commandSet({ 2: ctImage, 256: 0x8001, 288: messageId, 2048: 0x0101, 2304: status })));
}

/** Remaining, completed, failed and warning sub-operations of a response. */
export function countsOf(received: ReceivedPdu): (number | undefined)[] {
	return [0x1020, 0x1021, 0x1022, 0x1023].map((number) => responseOf(received).get(number)?.readUInt16LE(0));
}

export interface Message {
	contextId: number;
	command: ReceivedPdu;
	dataSet: Buffer | undefined;
	/** The longest PDU that it came in. */
	pduBytes: number;
	/** A fragment before the last has an odd length. */
	hasOddPiece: boolean;
}

/** The next message of the peer's other side: a command set in one PDU, and its data set in any number of them. */
export async function nextMessage(peer: Peer): Promise<Message> {
	const command = await peer.next();
	const pieces: Buffer[] = [];
	let pduBytes = command.body.length;
	if (responseOf(command).get(0x0800)?.readUInt16LE(0) === 0x0101) {
		return { contextId: command.body[4] as number, command, dataSet: undefined, pduBytes, hasOddPiece: false };
	}
	for (let isLast = false; !isLast; ) {
		const { body } = await peer.next();
		pduBytes = Math.max(pduBytes, body.length);
		pieces.push(body.subarray(6));
		isLast = ((body[5] as number) & 2) === 2;
	}
	return {
		contextId: command.body[4] as number,
		command,
		dataSet: Buffer.concat(pieces),
		pduBytes,
		hasOddPiece: pieces.slice(0, -1).some(({ length }) => length % 2 === 1),
	};
}

/** Messages up to the one that is no longer pending. */
export async function allResponses(peer: Peer): Promise<Message[]> {
	const messages: Message[] = [];
	for (;;) {
		const message = await nextMessage(peer);
		messages.push(message);
		if (((statusOf(message.command) ?? 0) & 0xff_fe) !== 0xff_00) return messages;
	}
}

/** Sub-operations answered as the test says, until the request is answered. */
export async function serveSubOperations(
	peer: Peer,
	status: (sopInstanceUid: string) => number,
): Promise<{ stored: Message[]; last: Message }> {
	const stored: Message[] = [];
	for (;;) {
		const message = await nextMessage(peer);
		const elements = responseOf(message.command);
		const field = elements.get(0x0100)?.readUInt16LE(0);
		if (field === 1) {
			stored.push(message);
			const uid = elements.get(0x1000)?.toString('latin1').replace(/\0$/, '') ?? '';
			peer.write(storeResponse(elements.get(0x0110)?.readUInt16LE(0) ?? 0, status(uid), message.contextId));
		} else if (statusOf(message.command) !== 0xff_00) return { stored, last: message };
	}
}

/** An archive of CT images with the data sets that are given. */
export function archiveOf(
	dataSets: Record<string, () => AsyncIterable<Uint8Array>>,
	changes: Partial<RetrievableInstance> = {},
): Partial<Archive> {
	const instances: RetrievableInstance[] = Object.keys(dataSets).map((uid) => ({
		studyUid: '1.2',
		seriesUid: '1.2.3',
		sopInstanceUid: uid,
		sopClassUid: ctImage,
		transferSyntaxUid: explicitLittleEndian,
		objectKey: uid,
		bytes: 1,
		...changes,
	}));
	return {
		kinds: () => Promise.resolve([{ sopClassUid: ctImage, transferSyntaxUid: explicitLittleEndian, instances: instances.length }]),
		// Pages of two.
		instances: (_siteId, _clauses, { after }) => {
			const from = after === undefined ? 0 : Number(after[0]);
			const isLast = from + 2 >= instances.length;
			return Promise.resolve({ instances: instances.slice(from, from + 2), next: isLast ? undefined : [String(from + 2)] });
		},
		readDataSet: (objectKey) => (dataSets[objectKey] as () => AsyncIterable<Uint8Array>)(),
	};
}

export async function* pieces(...given: Buffer[]): AsyncIterable<Uint8Array> {
	yield* given;
}
