/** A-ASSOCIATE-RQ (PS3.8 §9.3.2, user information: annex D and PS3.7 annex D.3.3). */

export interface ProposedContext {
	id: number;
	abstractSyntax: string;
	transferSyntaxes: readonly string[];
}

/** SCP/SCU role selection (PS3.7 §D.3.3.4). */
export interface ProposedRole {
	sopClassUid: string;
	scu: boolean;
	scp: boolean;
}

/** SOP Class Extended Negotiation (PS3.7 §D.3.3.5). */
export interface ProposedExtension {
	sopClassUid: string;
	/** Service-class-application-information. */
	information: Buffer;
}

export interface AssociateRequest {
	/** Bit 0: version 1. */
	protocolVersion: number;
	/** The 64 bytes that begin with the called AE title. The answer repeats them. */
	titles: Buffer;
	/** The AE titles without leading and trailing blanks; not validated. */
	calledAe: string;
	callingAe: string;
	applicationContext: string | undefined;
	contexts: readonly ProposedContext[];
	roles: readonly ProposedRole[];
	extensions: readonly ProposedExtension[];
	/** The longest P-DATA-TF that the requestor accepts; 0 means any length. */
	pduBytesMax: number;
	/** True when the requestor proposed an asynchronous operations window. */
	proposesWindow: boolean;
}

/** The bytes break the structure of PS3.8 §9.3.2. */
export class AssociateRequestError extends Error {
	override readonly name = 'AssociateRequestError';
}

interface Item {
	type: number;
	value: Buffer;
}

export function* itemsOf(bytes: Buffer): Iterable<Item> {
	for (let at = 0; at < bytes.length; ) {
		if (bytes.length - at < 4) throw new AssociateRequestError('an item is cut off');
		const end = at + 4 + bytes.readUInt16BE(at + 2);
		if (end > bytes.length) throw new AssociateRequestError('an item is longer than what holds it');
		yield { type: bytes[at] as number, value: bytes.subarray(at + 4, end) };
		at = end;
	}
}

/** Decodes a UID. UIDs are padded to an even length by a NUL, and by some senders with a blank. */
export function textOf(bytes: Buffer): string {
	return bytes.toString('latin1').replace(/^[ \0]+|[ \0]+$/g, '');
}

function contextOf(value: Buffer): ProposedContext {
	const id = value[0];
	if (id === undefined || value.length < 4 || id % 2 === 0) throw new AssociateRequestError('a presentation context has no odd number');
	const syntaxes = [...itemsOf(value.subarray(4))];
	const [abstractSyntax, ...more] = syntaxes.filter(({ type }) => type === 0x30);
	if (abstractSyntax === undefined || more.length > 0)
		throw new AssociateRequestError('a presentation context has not one abstract syntax');
	const transferSyntaxes = syntaxes.filter(({ type }) => type === 0x40).map((item) => textOf(item.value));
	return { id, abstractSyntax: textOf(abstractSyntax.value), transferSyntaxes };
}

export function roleOf(value: Buffer): ProposedRole {
	const uidEnd = value.length < 2 ? Number.POSITIVE_INFINITY : 2 + value.readUInt16BE(0);
	if (uidEnd + 2 > value.length) throw new AssociateRequestError('a role selection is cut off');
	return { sopClassUid: textOf(value.subarray(2, uidEnd)), scu: value[uidEnd] === 1, scp: value[uidEnd + 1] === 1 };
}

/** Reads an extended negotiation item. A truncated item is skipped, so that nothing in it is agreed. */
function extensionOf(value: Buffer): ProposedExtension[] {
	const uidEnd = value.length < 2 ? Number.POSITIVE_INFINITY : 2 + value.readUInt16BE(0);
	return uidEnd > value.length ? [] : [{ sopClassUid: textOf(value.subarray(2, uidEnd)), information: value.subarray(uidEnd) }];
}

type UserInformation = Pick<AssociateRequest, 'pduBytesMax' | 'proposesWindow' | 'roles' | 'extensions'>;

function userInformationOf(values: readonly Buffer[]): UserInformation {
	const roles: ProposedRole[] = [];
	const extensions: ProposedExtension[] = [];
	let pduBytesMax = 0;
	let proposesWindow = false;
	for (const { type, value } of values.flatMap((bytes) => [...itemsOf(bytes)])) {
		if (type === 0x51) {
			if (value.length !== 4) throw new AssociateRequestError('the maximum length has not four bytes');
			pduBytesMax = value.readUInt32BE(0);
		} else if (type === 0x53) proposesWindow = true;
		else if (type === 0x54) roles.push(roleOf(value));
		else if (type === 0x56) extensions.push(...extensionOf(value));
	}
	return { pduBytesMax, proposesWindow, roles, extensions };
}

/**
 * Reads an A-ASSOCIATE-RQ. Unknown items are skipped, as PS3.8 §9.3.1 asks.
 * @param body of the PDU, at least 68 bytes
 * @throws AssociateRequestError
 */
export function readAssociateRequest(body: Buffer): AssociateRequest {
	const items = [...itemsOf(body.subarray(68))];
	const valuesOf = (wanted: number) => items.filter(({ type }) => type === wanted).map(({ value }) => value);
	const [applicationContext] = valuesOf(0x10);
	const contexts = valuesOf(0x20).map(contextOf);
	if (new Set(contexts.map(({ id }) => id)).size < contexts.length)
		throw new AssociateRequestError('two presentation contexts share a number');
	return {
		protocolVersion: body.readUInt16BE(0),
		titles: body.subarray(4, 68),
		calledAe: textOf(body.subarray(4, 20)),
		callingAe: textOf(body.subarray(20, 36)),
		applicationContext: applicationContext && textOf(applicationContext),
		contexts,
		...userInformationOf(valuesOf(0x50)),
	};
}
