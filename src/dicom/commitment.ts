import type { ReferencedInstance } from '#record/instance.ts';
import { isUid, type UidRule } from '#record/uid.ts';
import type { DicomJson } from './json-model.ts';
import { explicitLittleEndian, implicitLittleEndian } from './transfer-syntax.ts';

/** The action and event information of storage commitment (PS3.4 §J.3, tables J.3-1 and J.3-2). */

export interface CommitmentRequest {
	transactionUid: string;
	references: ReferencedInstance[];
}

/** Failure Reason (0008,1197), PS3.3 §C.14.1.1. */
export const failureReasons = {
	processingFailure: 0x0110,
	noSuchObjectInstance: 0x0112,
	classInstanceConflict: 0x0119,
	duplicateTransactionUid: 0x0131,
} as const;

export type FailureReason = (typeof failureReasons)[keyof typeof failureReasons];

export interface RefusedInstance extends ReferencedInstance {
	reason: FailureReason;
}

function uidOf(json: DicomJson, tag: string, rule: UidRule = 'strict'): string | undefined {
	const value = json[tag]?.Value?.[0];
	return typeof value === 'string' && isUid(value, rule) ? value : undefined;
}

/** A text says what is missing or no UID. */
export function readCommitmentRequest(json: DicomJson): CommitmentRequest | string {
	const transactionUid = uidOf(json, '00081195');
	if (transactionUid === undefined) return 'no valid Transaction UID';
	const items = json['00081199']?.Value ?? [];
	if (items.length === 0) return 'no Referenced SOP Sequence';
	const references: ReferencedInstance[] = [];
	for (const item of items) {
		const reference = (item ?? {}) as DicomJson;
		const sopClassUid = uidOf(reference, '00081150');
		const sopInstanceUid = uidOf(reference, '00081155', 'lenient');
		if (sopClassUid === undefined || sopInstanceUid === undefined) return 'a referenced instance without valid UIDs';
		references.push({ sopClassUid, sopInstanceUid });
	}
	return { transactionUid, references };
}

/** Transfer syntaxes in which reports are written, the better first. */
export const commitmentTransferSyntaxes = [explicitLittleEndian, implicitLittleEndian] as const;

function element(isExplicit: boolean, group: number, number: number, vr: 'UI' | 'US' | 'SQ', value: Buffer): Buffer {
	const isLong = isExplicit && vr === 'SQ';
	const head = Buffer.alloc(isLong ? 12 : 8);
	head.writeUInt16LE(group, 0);
	head.writeUInt16LE(number, 2);
	if (isExplicit) head.write(vr, 4, 'latin1');
	if (isExplicit && !isLong) head.writeUInt16LE(value.length, 6);
	else head.writeUInt32LE(value.length, head.length - 4);
	return Buffer.concat([head, value]);
}

/** The event information of an N-EVENT-REPORT: event type 1 where nothing is refused, else 2. */
export function commitmentReport(
	transactionUid: string,
	committed: readonly ReferencedInstance[],
	refused: readonly RefusedInstance[],
	transferSyntax: string,
): Buffer {
	const isExplicit = transferSyntax !== implicitLittleEndian;
	const uid = (number: number, value: string) =>
		element(isExplicit, 0x0008, number, 'UI', Buffer.from(value.length % 2 === 0 ? value : `${value}\0`, 'latin1'));
	const reference = ({ sopClassUid, sopInstanceUid }: ReferencedInstance) => [uid(0x1150, sopClassUid), uid(0x1155, sopInstanceUid)];
	const item = (parts: readonly Buffer[]) => {
		const head = Buffer.from([0xfe, 0xff, 0x00, 0xe0, 0, 0, 0, 0]);
		head.writeUInt32LE(
			parts.reduce((sum, { length }) => sum + length, 0),
			4,
		);
		return Buffer.concat([head, ...parts]);
	};
	const sequence = (number: number, items: readonly Buffer[]) =>
		items.length === 0 ? [] : [element(isExplicit, 0x0008, number, 'SQ', Buffer.concat(items))];
	const failed = refused.map((instance) => {
		const reason = element(isExplicit, 0x0008, 0x1197, 'US', Buffer.from([instance.reason & 0xff, instance.reason >> 8]));
		return item([...reference(instance), reason]);
	});
	return Buffer.concat([
		uid(0x1195, transactionUid),
		...sequence(0x1198, failed),
		...sequence(
			0x1199,
			committed.map((instance) => item(reference(instance))),
		),
	]);
}
