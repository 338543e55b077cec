import { Failure } from '#core/failure.ts';
import { isConvertible } from '#dicom/transfer-syntax.ts';
import { type PictureType, pictureTypes } from '#rendering/picture.ts';
import { byWeight, includes, type MediaType, preferredType, rangesOf } from '../http/media-type.ts';
import type { HttpRequest } from '../http/message.ts';

/** The packaging of an answer. `mediaType` is that of each part, or of the whole body. */
export interface Packing {
	isMultipart: boolean;
	mediaType: string;
	/** The transfer syntax in which everything is sent; undefined: each instance as it is stored. */
	transferSyntax: string | undefined;
}

export interface Offer {
	/** Media types that can be answered, the best first. */
	mediaTypes: readonly string[];
	/** The transfer syntaxes in which the bytes are stored. */
	transferSyntaxes: readonly string[];
	/** The transfer syntaxes in which what is stored uncompressed can be sent besides. */
	convertsTo: readonly string[];
	/** The transfer syntax for who names none; undefined: as it is stored. */
	assumes?: string | undefined;
	/** True when the answer has only one part and may be sent without multipart. */
	isOne: boolean;
}

const jsonTypes = ['application/dicom+json', 'application/json'] as const;

/** @throws Failure `not-acceptable` when the caller takes no JSON */
export function jsonType(request: Pick<HttpRequest, 'header' | 'query'>): string {
	const type = preferredType(rangesOf(request), jsonTypes);
	if (type === undefined) throw new Failure('not-acceptable', 'this is answered as application/dicom+json');
	return type;
}

/**
 * Chooses the packaging that the caller accepts (PS3.18 §8.7). Pixel data is not transcoded. Without `transfer-syntax` the bytes are sent as the offer
 * assumes, and with `*` as they are stored. Any other value must be the syntax in which all of them are stored, or into which they are converted.
 * @throws Failure `not-acceptable`
 */
export function packingOf(request: Pick<HttpRequest, 'header' | 'query'>, offer: Offer): Packing {
	for (const range of byWeight(rangesOf(request))) {
		const packing = fitting(range, offer);
		const syntax = range.parameters['transfer-syntax'] ?? offer.assumes ?? '*';
		if (packing && syntax === '*') return { ...packing, transferSyntax: undefined };
		const isSent = (uid: string) => uid === syntax || (isConvertible(uid) && offer.convertsTo.includes(syntax));
		if (packing && offer.transferSyntaxes.every(isSent)) return { ...packing, transferSyntax: syntax };
	}
	throw new Failure(
		'not-acceptable',
		`this is answered as ${offer.mediaTypes.join(' or ')} in the transfer syntax in which it is stored; only uncompressed instances are converted`,
	);
}

/** Returns the type of the parts in which several pictures are answered. @throws Failure `not-acceptable` when the caller does not take parts */
export function picturePartsType(request: Pick<HttpRequest, 'header' | 'query'>): PictureType {
	for (const range of byWeight(rangesOf(request))) {
		const type = takesParts(range) ? partType(range, pictureTypes) : undefined;
		if (type !== undefined) return type;
	}
	throw new Failure(
		'not-acceptable',
		`several pictures are answered as multipart/related with parts of ${pictureTypes.join(' or ')}, and not as one file; ask for one frame`,
	);
}

function takesParts({ name }: MediaType): boolean {
	return includes(name, 'multipart/related');
}

function partType<Type extends string>({ parameters }: MediaType, mediaTypes: readonly Type[]): Type | undefined {
	const type = parameters['type']?.toLowerCase() ?? '*/*';
	return mediaTypes.find((own) => includes(type, own));
}

function fitting(range: MediaType, { mediaTypes, isOne }: Offer): Omit<Packing, 'transferSyntax'> | undefined {
	if (takesParts(range)) {
		const mediaType = partType(range, mediaTypes);
		return mediaType === undefined ? undefined : { isMultipart: true, mediaType };
	}
	const mediaType = isOne ? mediaTypes.find((own) => includes(range.name, own)) : undefined;
	return mediaType === undefined ? undefined : { isMultipart: false, mediaType };
}
