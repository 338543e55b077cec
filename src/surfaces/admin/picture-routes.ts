import type { Operation } from '#administration/operation.ts';
import { showPicture } from '#administration/pictures.ts';
import type { EncodedPicture } from '#rendering/picture-cache.ts';
import { pictureWish } from '#rendering/picture-query.ts';
import type { Route } from '../http/message.ts';
import { pictureAnswer, pictureType } from '../http/picture-answer.ts';
import type { AdminContext } from './context.ts';
import { signedIn } from './guard.ts';
import { carryOut, patternOf } from './operation-routes.ts';
import { pictures } from './picture-openapi.ts';

/** Images as pictures, for the console: one picture an answer, with the parameters of DICOMweb. */
export function pictureRoutes(context: AdminContext): Route[] {
	return pictures.map(({ path }) => pictureRoute(context, path, path.endsWith('/thumbnail')));
}

function pictureRoute(context: AdminContext, path: Operation['path'], isThumbnail: boolean): Route {
	return signedIn(context, patternOf({ method: 'GET', path }), async (session, request) => {
		const mediaType = pictureType(request);
		const wish = pictureWish(new URLSearchParams(request.query), mediaType, isThumbnail);
		const shown = await carryOut(context, showPicture(wish, isThumbnail), session, request, { ...request.params });
		return pictureAnswer(request, shown as EncodedPicture, mediaType);
	});
}
