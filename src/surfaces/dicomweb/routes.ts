import type { AnyRoute, HttpAnswer, HttpRequest } from '../http/message.ts';
import { authorizeReading } from './authorize-reading.ts';
import { bulkData, frames } from './bulk-data.ts';
import type { DicomWebContext } from './context.ts';
import { metadata } from './metadata.ts';
import { rendered, renderedFrames, thumbnail } from './rendered.ts';
import { retrieve } from './retrieve.ts';
import { search } from './search.ts';
import { store } from './store.ts';
import { root } from './urls.ts';

const studies = `${root}/studies`;
const study = `${studies}/:study`;
const series = `${study}/series/:series`;
const instance = `${series}/instances/:instance`;

type Handler = (context: DicomWebContext, request: HttpRequest) => Promise<HttpAnswer>;

const inSeries: Handler = (context, request) => search(context, request, 'SERIES');
const inInstances: Handler = (context, request) => search(context, request, 'IMAGE');

const reads: readonly (readonly [pattern: string, handler: Handler])[] = [
	...[study, series, instance].flatMap((pattern) => [[pattern, retrieve] as const, [`${pattern}/metadata`, metadata] as const]),
	[`${instance}/bulkdata/:path`, bulkData],
	[`${instance}/frames/:frames`, frames],
	[`${instance}/frames/:frames/rendered`, renderedFrames],
	...[study, series, instance].map((pattern) => [`${pattern}/rendered`, rendered] as const),
	...[study, series, instance, `${instance}/frames/:frames`].map((pattern) => [`${pattern}/thumbnail`, thumbnail] as const),
	[studies, (context, request) => search(context, request, 'STUDY')],
	...[`${root}/series`, `${study}/series`].map((pattern) => [pattern, inSeries] as const),
	...[`${root}/instances`, `${study}/instances`, `${series}/instances`].map((pattern) => [pattern, inInstances] as const),
];

/** Returns one route for each transaction of DICOMweb (PS3.18 §10). */
export function dicomWebRoutes(context: DicomWebContext): AnyRoute[] {
	const storing = [studies, study].map(
		(pattern): AnyRoute => ({
			method: 'POST',
			pattern,
			keyScope: 'imaging',
			streams: true,
			bytesMax: context.limits.stowBytesMax,
			handle: (request) => store(context, request),
		}),
	);
	const reading = reads.map(
		([pattern, handler]): AnyRoute => ({
			...{ method: 'GET', pattern, keyScope: 'imaging' },
			admit: (request) => authorizeReading(context, request),
			handle: (request) => handler(context, request),
		}),
	);
	return [...storing, ...reading];
}
