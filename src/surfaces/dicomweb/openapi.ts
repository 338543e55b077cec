import { queryAttributes } from '#dicom/query/attributes.ts';

const tag = 'DICOMweb';
const dicomJson = 'application/dicom+json';
const refusal = {
	type: 'object',
	required: ['success', 'error'],
	properties: { success: { const: false }, error: { type: 'string' } },
};
const refused = {
	default: { description: 'The request was refused; `error` says why', content: { 'application/json': { schema: refusal } } },
};
const dataSet = { type: 'object', description: 'A data set in the DICOM JSON Model (PS3.18 F.2)' };
const list = { type: 'array', items: dataSet };
const binary = { type: 'string', format: 'binary' };

const text = (name: string, place: 'path' | 'query' | 'header', description: string) => ({
	name,
	in: place,
	required: place === 'path',
	description,
	schema: { type: 'string' },
});

const uids = {
	study: text('study', 'path', 'Study Instance UID'),
	series: text('series', 'path', 'Series Instance UID'),
	instance: text('instance', 'path', 'SOP Instance UID'),
};

/** Returns the parameters that a path pattern names. */
function parametersOf(path: string): object[] {
	return Object.entries(uids).flatMap(([name, parameter]) => (path.includes(`{${name}}`) ? [parameter] : []));
}

function get(path: string, operationId: string, summary: string, more: readonly object[], content: object): Record<string, object> {
	const responses = { 200: { description: summary, content }, ...refused };
	return { [path]: { get: { tags: [tag], operationId, summary, parameters: [...parametersOf(path), ...more], responses } } };
}

const study = '/dicomweb/studies/{study}';
const series = `${study}/series/{series}`;
const instance = `${series}/instances/{instance}`;

const multipart = (type: string) => ({ [`multipart/related; type="${type}"`]: { schema: binary } });
const accept = text(
	'Accept',
	'header',
	'`multipart/related; type="application/dicom"; transfer-syntax=*` returns the bytes as they are stored',
);

const matching = Object.entries(queryAttributes)
	.filter(([, attribute]) => attribute.matching !== 'none')
	.map(([keyword]) =>
		text(
			keyword,
			'query',
			'Matching by keyword or tag; texts may have `*` and `?`, dates and times a range with `-`, and UIDs are separated by `,`',
		),
	);
const paging = [
	text('includefield', 'query', 'Keywords or tags, separated by commas, or `all`'),
	text('limit', 'query', 'Maximum number of results'),
	text('offset', 'query', 'Number of results to skip'),
	text('fuzzymatching', 'query', 'Names match by the starts of their words, in any order'),
];

function searches(path: string, operationId: string, summary: string): Record<string, object> {
	return get(path, operationId, summary, [...matching, ...paging], { [dicomJson]: { schema: list } });
}

function stores(path: string, operationId: string, summary: string): Record<string, object> {
	const answer = (description: string) => ({ description, content: { [dicomJson]: { schema: dataSet } } });
	const requestBody = { required: true, content: { ...multipart('application/dicom'), 'application/dicom': { schema: binary } } };
	const responses = {
		200: answer('All instances are stored'),
		202: answer('Only some instances are stored, or some with a warning'),
		409: answer('No instance is stored'),
		503: answer('No instance can be stored now; send the request again later'),
		...refused,
	};
	return { [path]: { post: { tags: [tag], operationId, summary, parameters: parametersOf(path), requestBody, responses } } };
}

function merged(parts: readonly Record<string, object>[]): Record<string, object> {
	const paths: Record<string, object> = {};
	for (const part of parts) for (const [path, item] of Object.entries(part)) paths[path] = { ...paths[path], ...item };
	return paths;
}

const levels = [
	[study, 'Study', 'study'],
	[series, 'Series', 'series'],
	[instance, 'Instance', 'instance'],
] as const;

const pictures = { 'image/jpeg': { schema: binary }, 'image/png': { schema: binary } };
const severalPictures = { ...multipart('image/jpeg'), ...multipart('image/png') };
const size = text(
	'viewport',
	'query',
	'width,height into which the picture is fitted; rendered ones also take a region: width,height,x,y,width,height',
);
const showing = [
	size,
	text(
		'window',
		'query',
		'center,width,function; the function is linear, linear-exact or sigmoid. Without it the window of the image is used',
	),
	text('quality', 'query', 'Of image/jpeg, from 1 to 100'),
];

/** Rendered resources and thumbnails of one level. */
function shown(path: string, name: string, word: string): Record<string, object>[] {
	const content = path.startsWith(instance) ? { ...pictures, ...severalPictures } : severalPictures;
	const numbers = path.endsWith('{frames}') ? [text('frames', 'path', 'Frame numbers from 1, separated by commas')] : [];
	return [
		get(`${path}/rendered`, `rendered${name}`, `A ${word} as pictures (WADO-RS)`, [...numbers, ...showing], content),
		get(`${path}/thumbnail`, `thumbnailOf${name}`, `A small picture of a ${word} (WADO-RS)`, [...numbers, ...showing], pictures),
	];
}

/** The description of DICOMweb in the OpenAPI document of its origin. */
export const dicomWebOpenApi = {
	tag,
	paths: merged([
		stores('/dicomweb/studies', 'storeInstances', 'Store instances (STOW-RS)'),
		stores(study, 'storeInstancesOfStudy', 'Store instances of one study (STOW-RS)'),
		searches('/dicomweb/studies', 'searchStudies', 'Search studies (QIDO-RS)'),
		searches('/dicomweb/series', 'searchSeries', 'Search series (QIDO-RS)'),
		searches('/dicomweb/instances', 'searchInstances', 'Search instances (QIDO-RS)'),
		searches(`${study}/series`, 'searchSeriesOfStudy', 'Search the series of a study (QIDO-RS)'),
		searches(`${study}/instances`, 'searchInstancesOfStudy', 'Search the instances of a study (QIDO-RS)'),
		searches(`${series}/instances`, 'searchInstancesOfSeries', 'Search the instances of a series (QIDO-RS)'),
		...levels.flatMap(([path, name, word]) => {
			const whole = { ...multipart('application/dicom'), ...(path === instance ? { 'application/dicom': { schema: binary } } : {}) };
			return [
				get(path, `retrieve${name}`, `Retrieve a ${word} (WADO-RS)`, [accept], whole),
				get(`${path}/metadata`, `metadataOf${name}`, `Metadata of a ${word} (WADO-RS)`, [], { [dicomJson]: { schema: list } }),
			];
		}),
		...levels.flatMap(([path, name, word]) => shown(path, name, word)),
		...shown(`${instance}/frames/{frames}`, 'Frames', 'frame'),
		get(
			`${instance}/frames/{frames}`,
			'retrieveFrames',
			'Frames of an instance (WADO-RS)',
			[text('frames', 'path', 'Frame numbers from 1, separated by commas')],
			{ ...multipart('application/octet-stream'), 'application/octet-stream': { schema: binary } },
		),
		get(
			`${instance}/bulkdata/{path}`,
			'retrieveBulkData',
			'The value of one element (WADO-RS)',
			[text('path', 'path', 'The path from the BulkDataURI in the metadata')],
			{ ...multipart('application/octet-stream'), 'application/octet-stream': { schema: binary } },
		),
	]),
};
