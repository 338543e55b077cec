import { implementationClassUid, implementationVersionName } from '#dicom/implementation.ts';
import { isUid } from '#record/uid.ts';
import { AssociateRequestError, itemsOf, type ProposedContext, type ProposedRole, roleOf, textOf } from './associate-request.ts';
import { applicationContextName, item, uint32 } from './negotiation.ts';
import { dataBytesMin, pdu } from './pdu.ts';

/** The proposal of this side in an A-ASSOCIATE-RQ (PS3.8 §9.3.2). */
export interface Proposal {
	calledAe: string;
	callingAe: string;
	contexts: readonly ProposedContext[];
	/** Proposed roles. This side is the SCU of a class without a role. */
	roles: readonly ProposedRole[];
	/** The longest P-DATA-TF that this side accepts. */
	pduBytesMax: number;
}

function roleItem({ sopClassUid, scu, scp }: ProposedRole): Buffer {
	const length = Buffer.alloc(2);
	length.writeUInt16BE(sopClassUid.length);
	return item(0x54, length, sopClassUid, Buffer.from([scu ? 1 : 0, scp ? 1 : 0]));
}

export function associateRequest({ calledAe, callingAe, contexts, roles, pduBytesMax }: Proposal): Buffer {
	const fixed = Buffer.concat([Buffer.from([0, 1, 0, 0]), Buffer.from(calledAe.padEnd(16) + callingAe.padEnd(16)), Buffer.alloc(32)]);
	const proposed = contexts.map(({ id, abstractSyntax, transferSyntaxes }) =>
		item(0x20, Buffer.from([id, 0, 0, 0]), item(0x30, abstractSyntax), ...transferSyntaxes.map((uid) => item(0x40, uid))),
	);
	const user = item(
		0x50,
		item(0x51, uint32(pduBytesMax)),
		item(0x52, implementationClassUid),
		...roles.map(roleItem),
		item(0x55, implementationVersionName),
	);
	return pdu(0x01, Buffer.concat([fixed, item(0x10, applicationContextName), ...proposed, user]));
}

/** A presentation context that the peer accepted. */
export interface UsableContext {
	id: number;
	abstractSyntax: string;
	transferSyntax: string;
	/** The roles of this side: those it proposed, as far as the peer accepted them. Without a proposal it is SCU. */
	scu: boolean;
	scp: boolean;
}

export interface Acceptance {
	contexts: readonly UsableContext[];
	/** The longest P-DATA-TF that this side sends. */
	pduBytesMax: number;
}

/**
 * Reads how the peer answered the proposal (PS3.8 §9.3.3). Unknown items are skipped, and so are answers to contexts that were not
 * proposed.
 * @param body of the A-ASSOCIATE-AC, at least 68 bytes
 * @throws AssociateRequestError
 */
export function readAssociateAccept(body: Buffer, proposal: Proposal): Acceptance {
	const items = [...itemsOf(body.subarray(68))];
	const user = items.filter(({ type }) => type === 0x50).flatMap(({ value }) => [...itemsOf(value)]);
	const [length] = user.filter(({ type }) => type === 0x51);
	if (length !== undefined && length.value.length !== 4) throw new AssociateRequestError('the maximum length has not four bytes');
	const announced = length?.value.readUInt32BE(0) ?? 0;
	if (announced !== 0 && announced < dataBytesMin) throw new AssociateRequestError('the maximum length leaves no room for data');
	const granted = user.filter(({ type }) => type === 0x54).map(({ value }) => roleOf(value));
	const contexts = items
		.filter(({ type }) => type === 0x21)
		.flatMap(({ value }) => {
			const proposed = proposal.contexts.find(({ id }) => id === value[0]);
			if (proposed === undefined || value[2] !== 0) return [];
			const [syntax] = [...itemsOf(value.subarray(4))].filter(({ type }) => type === 0x40);
			const transferSyntax = syntax === undefined ? '' : textOf(syntax.value);
			if (!isUid(transferSyntax) || !proposed.transferSyntaxes.includes(transferSyntax))
				throw new AssociateRequestError('a transfer syntax was accepted that was not proposed');
			return [{ id: proposed.id, abstractSyntax: proposed.abstractSyntax, transferSyntax, ...roleFor(proposed.abstractSyntax) }];
		});
	return { contexts, pduBytesMax: announced === 0 ? proposal.pduBytesMax : Math.min(announced, proposal.pduBytesMax) };

	function roleFor(abstractSyntax: string): { scu: boolean; scp: boolean } {
		const asked = proposal.roles.find(({ sopClassUid }) => sopClassUid === abstractSyntax);
		const answer = granted.find(({ sopClassUid }) => sopClassUid === abstractSyntax);
		if (asked === undefined || answer === undefined) return { scu: true, scp: false };
		return { scu: asked.scu && answer.scu, scp: asked.scp && answer.scp };
	}
}
