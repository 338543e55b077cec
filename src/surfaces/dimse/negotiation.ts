import { implementationClassUid, implementationVersionName } from '#dicom/implementation.ts';
import { implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { isUid } from '#record/uid.ts';
import type { AssociateRequest, ProposedContext, ProposedExtension, ProposedRole } from './associate-request.ts';
import { dataBytesMin, pdu } from './pdu.ts';
import type { ServiceClass } from './service.ts';

export const applicationContextName = '1.2.840.10008.3.1.1.1';

export interface AcceptedContext {
	id: number;
	abstractSyntax: string;
	transferSyntax: string;
	serviceClass: ServiceClass;
	/** The roles of the requestor. */
	role: { scu: boolean; scp: boolean };
	/** The result of the extended negotiation; empty when nothing was agreed. */
	extension: Buffer;
}

/** The result of a negotiation. */
export interface Negotiated {
	contexts: ReadonlyMap<number, AcceptedContext>;
	/** The longest P-DATA-TF that the peer accepts. */
	peerPduBytesMax: number;
}

/** Result and reason of a presentation context (PS3.8 §9.3.3.2). */
const results = { acceptance: 0, 'user-rejection': 1, 'abstract-syntax-not-supported': 3, 'transfer-syntaxes-not-supported': 4 } as const;

interface ContextAnswer {
	id: number;
	result: keyof typeof results;
	accepted: AcceptedContext | undefined;
}

/** The rights of the peer, as far as they decide how the association may be used. */
type Grants = ReadonlySet<string>;

/** Returns the roles that this side accepts of the requestor. It may be SCP only if instances may be sent back to it. */
function grantedRole(proposed: ProposedRole, service: ServiceClass, grants: Grants): ProposedRole {
	return { ...proposed, scp: proposed.scp && service.sendsBack === true && grants.has('query') };
}

function answerContext(
	{ id, abstractSyntax, transferSyntaxes }: ProposedContext,
	{ roles, extensions }: AssociateRequest,
	services: readonly ServiceClass[],
	grants: Grants,
): ContextAnswer {
	const serviceClass = isUid(abstractSyntax) ? services.find((service) => service.includes(abstractSyntax)) : undefined;
	if (serviceClass === undefined) return { id, result: 'abstract-syntax-not-supported', accepted: undefined };
	if (serviceClass.needs !== undefined && !grants.has(serviceClass.needs)) return { id, result: 'user-rejection', accepted: undefined };
	// Without a role selection the requestor is SCU.
	const proposed = roles.find(({ sopClassUid }) => sopClassUid === abstractSyntax);
	const role = proposed ? grantedRole(proposed, serviceClass, grants) : { scu: true, scp: false };
	if (!role.scu && !role.scp) return { id, result: 'user-rejection', accepted: undefined };
	const transferSyntax = serviceClass.chooseTransferSyntax(transferSyntaxes.filter((uid) => isUid(uid)));
	if (transferSyntax === undefined) return { id, result: 'transfer-syntaxes-not-supported', accepted: undefined };
	const asked = extensions.find(({ sopClassUid }) => sopClassUid === abstractSyntax);
	const extension = (asked && serviceClass.extend?.(asked.information)) ?? Buffer.alloc(0);
	return { id, result: 'acceptance', accepted: { id, abstractSyntax, transferSyntax, serviceClass, role, extension } };
}

export function item(type: number, ...parts: readonly (Buffer | string)[]): Buffer {
	const value = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
	const head = Buffer.from([type, 0, 0, 0]);
	head.writeUInt16BE(value.length, 2);
	return Buffer.concat([head, value]);
}

export function uint32(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
}

function lengthOf(uid: string): Buffer {
	const head = Buffer.alloc(2);
	head.writeUInt16BE(uid.length);
	return head;
}

function roleItem(sopClassUid: string, { scu, scp }: AcceptedContext['role']): Buffer {
	return item(0x54, lengthOf(sopClassUid), sopClassUid, Buffer.from([scu ? 1 : 0, scp ? 1 : 0]));
}

function extensionItem({ sopClassUid, information }: ProposedExtension): Buffer {
	return item(0x56, lengthOf(sopClassUid), sopClassUid, information);
}

/**
 * Builds the A-ASSOCIATE-AC (PS3.8 §9.3.3). It states this side's own maximum length, whatever the peer's is, and one operation at a time.
 */
function associateAccept(request: AssociateRequest, answers: readonly ContextAnswer[], pduBytesMax: number): Buffer {
	const contexts = answers.map(({ id, result, accepted }) =>
		item(0x21, Buffer.from([id, 0, results[result], 0]), item(0x40, accepted?.transferSyntax ?? implicitLittleEndian)),
	);
	const classes = new Map(answers.flatMap(({ accepted }) => (accepted ? [[accepted.abstractSyntax, accepted] as const] : [])));
	// There is one item for each SOP class (PS3.7 §D.3.3.4), the first as in `answerContext`: an item holds no more than 64 KiB.
	const asked = new Set(request.roles.map(({ sopClassUid }) => sopClassUid));
	const roles = [...classes].filter(([uid]) => asked.has(uid)).map(([uid, { role }]) => roleItem(uid, role));
	const extensions = [...classes].filter(([, { extension }]) => extension.length > 0);
	const window = request.proposesWindow ? [item(0x53, Buffer.from([0, 1, 0, 1]))] : [];
	const user = item(
		0x50,
		item(0x51, uint32(pduBytesMax)),
		item(0x52, implementationClassUid),
		...window,
		...roles,
		item(0x55, implementationVersionName),
		...extensions.map(([sopClassUid, { extension }]) => extensionItem({ sopClassUid, information: extension })),
	);
	return pdu(0x02, Buffer.concat([Buffer.from([0, 1, 0, 0]), request.titles, item(0x10, applicationContextName), ...contexts, user]));
}

/** Tells whether a P-DATA-TF of the length that the peer accepts can carry any data. */
export function canBeAnswered({ pduBytesMax }: AssociateRequest): boolean {
	return pduBytesMax === 0 || pduBytesMax >= dataBytesMin;
}

/** Decides on every proposed presentation context and returns the A-ASSOCIATE-AC with the decisions. */
export function negotiate(
	request: AssociateRequest,
	services: readonly ServiceClass[],
	grants: Grants,
	pduBytesMax: number,
): { accept: Buffer; negotiated: Negotiated } {
	const answers = request.contexts.map((context) => answerContext(context, request, services, grants));
	const accepted = answers.flatMap((answer) => answer.accepted ?? []);
	return {
		accept: associateAccept(request, answers, pduBytesMax),
		negotiated: {
			contexts: new Map(accepted.map((context) => [context.id, context])),
			// A peer that accepts any length is sent PDUs no longer than this side accepts itself.
			peerPduBytesMax: request.pduBytesMax === 0 ? pduBytesMax : Math.min(request.pduBytesMax, pduBytesMax),
		},
	};
}
