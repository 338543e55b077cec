import type { XmlElement } from '#hl7v3/element.ts';

/** `awaited` is somebody who is to sign and has not; `unclear` is a code that says neither. */
type Signature = 'signed' | 'awaited' | 'unclear';

/**
 * What legalAuthenticator and authenticator say by their signatureCode (CDA R2 §4.2.2.8, ParticipationSignature): S is signed, X required
 * and I intended. Who is named without a code has signed. Undefined where there is nobody.
 */
export function signatureOf(participant: XmlElement | undefined): Signature | undefined {
	if (participant === undefined || participant.isNull) return undefined;
	const code = participant.first('signatureCode');
	if (code === undefined || code.attribute('code') === 'S') return 'signed';
	return !code.isNull && ['X', 'I'].includes(code.attribute('code')) ? 'awaited' : 'unclear';
}

/** The legal authenticator, else the first authenticator, of those who have signed as far as is known. */
export function signer(document: XmlElement): XmlElement | undefined {
	const all = [...document.children('legalAuthenticator'), ...document.children('authenticator')];
	return all.find((one) => !['awaited', undefined].includes(signatureOf(one)) && one.first('assignedEntity') !== undefined);
}
