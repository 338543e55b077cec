import { pathMembers } from '#administration/members.ts';
import { apiPath } from './operation-routes.ts';

const study = '/sites/{site}/studies/{study}';
const series = `${study}/series/{series}`;
const instance = `${series}/instances/{instance}`;
const frame = `${instance}/frames/{frame}`;

/** The pictures of the console, by the paths of DICOMweb (PS3.18 §10.4.1.1.3). */
export const pictures = [
	{ path: `${instance}/rendered`, name: 'instance-rendered', summary: 'shows an image as a picture; of several frames the first' },
	{ path: `${frame}/rendered`, name: 'frame-rendered', summary: 'shows a frame as a picture' },
	{ path: `${study}/thumbnail`, name: 'study-thumbnail', summary: 'shows a small picture that stands for a study' },
	{ path: `${series}/thumbnail`, name: 'series-thumbnail', summary: 'shows a small picture that stands for a series' },
	{ path: `${instance}/thumbnail`, name: 'instance-thumbnail', summary: 'shows a small picture of an image, of its middle frame' },
	{ path: `${frame}/thumbnail`, name: 'frame-thumbnail', summary: 'shows a small picture of a frame' },
] as const;

const described: Readonly<Record<string, string>> = {
	site: 'short name of the site',
	study: 'Study Instance UID',
	series: 'Series Instance UID',
	instance: 'SOP Instance UID',
	frame: 'number of the frame, from 1',
};

const asked = [
	['viewport', 'width,height into which the picture is fitted; an image as a picture also takes a region: width,height,x,y,width,height'],
	['window', 'center,width,function; the function is linear, linear-exact or sigmoid. Without it the window of the image is used'],
	['quality', 'of image/jpeg, from 1 to 100'],
] as const;

const text = { type: 'string' };
const picture = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } };

/** The description of the pictures in the OpenAPI document, with the answers to a request that is refused. */
export function picturePaths(refused: object): Record<string, object> {
	const paths = pictures.map(({ path, name: operationId, summary }) => {
		const parameters = [
			...pathMembers(path).map((name) => ({ name, in: 'path', required: true, description: described[name], schema: text })),
			...asked.map(([name, description]) => ({ name, in: 'query', required: false, description, schema: text })),
		];
		const responses = {
			200: { description: 'The picture, in the form that Accept asks for', content: { 'image/jpeg': picture, 'image/png': picture } },
			...refused,
		};
		const get = { tags: ['study'], operationId, summary, security: [{ session: [] }], parameters, responses };
		return [apiPath + path, { get }] as const;
	});
	return Object.fromEntries(paths);
}
