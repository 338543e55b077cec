import { Failure } from '#core/failure.ts';
import type { RetrievableInstance } from '#record/imaging-query.ts';
import type { PictureWish } from '#rendering/picture.ts';
import { pictureWish } from '#rendering/picture-query.ts';
import { isNotShown, representative } from '#rendering/representative.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import { pictureAnswer, pictureType } from '../http/picture-answer.ts';
import type { DicomWebContext } from './context.ts';
import { frameNumbers } from './frame-numbers.ts';
import { findInstances, retrievedBy } from './instances.ts';
import { type AnswerPart, partsAnswer } from './multipart-writer.ts';
import { picturePartsType } from './negotiation.ts';
import { baseOf, instanceUrl } from './urls.ts';

function wishOf(request: HttpRequest, mediaType: PictureWish['mediaType'], isThumbnail = false): PictureWish {
	return pictureWish(new URLSearchParams(request.query), mediaType, isThumbnail);
}

/** Answers frames by number, from 1, as pictures (PS3.18 §10.4.1.1.3). @throws Failure */
export async function renderedFrames(context: DicomWebContext, request: HttpRequest): Promise<HttpAnswer> {
	const retrieved = await retrievedBy(context, request);
	const numbers = frameNumbers(request);
	const { first } = await findInstances(context, retrieved);
	const [only, ...others] = numbers;
	if (only !== undefined && others.length === 0) return single(context, request, first, only);
	return several(context, request, frames(context, first, numbers));
}

/** Answers an instance as a picture, or the frames of several instances as parts (PS3.18 §10.4.1.1.3). @throws Failure */
export async function rendered(context: DicomWebContext, request: HttpRequest): Promise<HttpAnswer> {
	const retrieved = await retrievedBy(context, request);
	const { first, all } = await findInstances(context, retrieved);
	if (!retrieved.isInstance) return several(context, request, everyFrame(context, all), true);
	const source = await context.renderer.open(first);
	if (source.frames === 1) return single(context, request, first, 1);
	return several(context, request, frames(context, first, upTo(context, source.frames)));
}

/** Answers a small picture that stands for a study, series, instance or frame (PS3.18 §10.4.1.1.4). @throws Failure */
export async function thumbnail(context: DicomWebContext, request: HttpRequest): Promise<HttpAnswer> {
	const retrieved = await retrievedBy(context, request);
	const mediaType = pictureType(request);
	const wish = wishOf(request, mediaType, true);
	const frame = request.params['frames'] === undefined ? undefined : frameNumbers(request)[0];
	const { all } = await findInstances(context, retrieved);
	return pictureAnswer(request, await representative(context.renderer, all, frame, wish), mediaType);
}

async function single(context: DicomWebContext, request: HttpRequest, instance: RetrievableInstance, frame: number): Promise<HttpAnswer> {
	const mediaType = pictureType(request);
	return pictureAnswer(request, await context.renderer.frame(instance, frame, wishOf(request, mediaType)), mediaType);
}

interface Wanted {
	instance: RetrievableInstance;
	frame: number;
}

function upTo({ limits }: DicomWebContext, count: number): number[] {
	if (count > limits.renderedFramesMax) {
		throw new Failure('too-large', `one request renders up to ${limits.renderedFramesMax} frames; ask for some of them by number`);
	}
	return Array.from({ length: count }, (_, index) => index + 1);
}

async function* frames(context: DicomWebContext, instance: RetrievableInstance, numbers: readonly number[]): AsyncGenerator<Wanted> {
	upTo(context, numbers.length);
	for (const frame of numbers) yield { instance, frame };
}

/** Instances without an image, or with one that is not shown, are left out; if all are, the request is refused. */
async function* everyFrame(context: DicomWebContext, all: AsyncIterable<RetrievableInstance>): AsyncGenerator<Wanted> {
	let count = 0;
	for await (const instance of all) {
		const found = await context.renderer.open(instance).catch(notShown);
		if (found === undefined) continue;
		count += found.frames;
		upTo(context, count);
		for (let frame = 1; frame <= found.frames; frame++) yield { instance, frame };
	}
}

function notShown(error: unknown): undefined {
	if (isNotShown(error)) return undefined;
	throw error;
}

async function several(
	context: DicomWebContext,
	request: HttpRequest,
	wanted: AsyncIterable<Wanted>,
	skipsRefused = false,
): Promise<HttpAnswer> {
	const mediaType = picturePartsType(request);
	const wish = wishOf(request, mediaType);
	const parts = pictureParts(context, { base: baseOf(request), wish, skipsRefused }, wanted);
	// A request of which nothing can be rendered must be refused before the status is sent.
	const first = await parts.next();
	if (first.done) throw new Failure('not-acceptable', 'no instance has an image that can be rendered');
	const body = (async function* () {
		yield first.value;
		yield* parts;
	})();
	return partsAnswer({ isMultipart: true, mediaType, transferSyntax: undefined }, body);
}

async function* pictureParts(
	{ renderer }: DicomWebContext,
	{ base, wish, skipsRefused }: { base: string; wish: PictureWish; skipsRefused: boolean },
	wanted: AsyncIterable<Wanted>,
): AsyncGenerator<AnswerPart> {
	for await (const { instance, frame } of wanted) {
		const picture = renderer.frame(instance, frame, wish);
		const shown = await (skipsRefused ? picture.catch(notShown) : picture);
		if (shown === undefined) continue;
		const location = `${instanceUrl(base, instance)}/frames/${frame}/rendered`;
		yield { transferSyntaxUid: undefined, location, bytes: once(shown.bytes) };
	}
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
	yield bytes;
}
