import { Failure } from '#core/failure.ts';
import { type PictureType, pictureTypes } from '#rendering/picture.ts';
import type { EncodedPicture } from '#rendering/picture-cache.ts';
import { namesTag } from './entity-tag.ts';
import { preferredType, rangesOf } from './media-type.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';

type Head = Pick<HttpRequest, 'header' | 'query'>;

/** @throws Failure `not-acceptable` when the caller takes no single picture */
export function pictureType(request: Head): PictureType {
	const type = preferredType(rangesOf(request), pictureTypes);
	if (type === undefined) throw new Failure('not-acceptable', `a picture is answered as ${pictureTypes.join(' or ')}`);
	return type;
}

/** Answers a picture, or that the caller has it already (RFC 9110 §13.1.2). */
export function pictureAnswer(request: Head, { bytes, etag }: EncodedPicture, mediaType: PictureType): HttpAnswer {
	const tags = request.header('if-none-match');
	if (tags !== undefined && namesTag(tags, etag)) return { status: 304, headers: { ETag: etag } };
	return { status: 200, headers: { 'Content-Type': mediaType, ETag: etag }, body: bytes };
}
