import { Failure } from '#core/failure.ts';
import { type DicomJson, elementOfText } from '#dicom/json-model.ts';
import { queryAttributes } from '#dicom/query/attributes.ts';
import { MatchingError } from '#dicom/query/matching.ts';
import { attributesOfLevel, type PlannedQuery, planQuery, type QueryKey } from '#dicom/query/plan.ts';
import { searchImaging } from '#imaging/search.ts';
import type { ImagingAttribute, ImagingEntity, QueryLevel } from '#record/imaging-query.ts';
import { requireScope } from '#record/scopes.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import { authorizeReading } from './authorize-reading.ts';
import type { DicomWebContext } from './context.ts';
import { jsonType } from './negotiation.ts';
import { type SearchParameters, searchParameters } from './search-parameters.ts';
import { baseOf, resourceUrl } from './urls.ts';

export type SearchLevel = Exclude<QueryLevel, 'PATIENT'>;

/** The attributes of the patient. The counts are left out, because each costs a query of its own. */
const ofPatient: readonly ImagingAttribute[] = ['PatientName', 'PatientID', 'IssuerOfPatientID', 'PatientBirthDate', 'PatientSex'];
const ofStudy: readonly ImagingAttribute[] = [
	...ofPatient,
	...attributesOfLevel('STUDY').filter((attribute) => attribute !== 'SOPClassesInStudy'),
];
const ofSeries = attributesOfLevel('SERIES');
const ofInstance = attributesOfLevel('IMAGE');

/**
 * Returns the attributes that answers show (PS3.18 Tables 10.6.3-3 to 10.6.3-5). A study or series that the path names is not described
 * again.
 */
function defaultsOf(level: SearchLevel, params: HttpRequest['params']): readonly ImagingAttribute[] {
	if (level === 'STUDY') return ofStudy;
	const study = params['study'] === undefined ? ofStudy : (['StudyInstanceUID'] as const);
	if (level === 'SERIES') return [...study, ...ofSeries];
	return [...study, ...(params['series'] === undefined ? ofSeries : (['SeriesInstanceUID'] as const)), ...ofInstance];
}

const everything: Readonly<Record<SearchLevel, readonly ImagingAttribute[]>> = {
	STUDY: [...attributesOfLevel('PATIENT'), ...attributesOfLevel('STUDY')],
	SERIES: [...attributesOfLevel('PATIENT'), ...attributesOfLevel('STUDY'), ...ofSeries],
	IMAGE: [...attributesOfLevel('PATIENT'), ...attributesOfLevel('STUDY'), ...ofSeries, ...ofInstance],
};

function keysOfPath({ study, series }: HttpRequest['params']): QueryKey[] {
	return [
		...(study === undefined ? [] : [{ attribute: 'StudyInstanceUID', value: study } as const]),
		...(series === undefined ? [] : [{ attribute: 'SeriesInstanceUID', value: series } as const]),
	];
}

/**
 * The token of a link to a viewer is for one study. A search for another one, or for several, asks for what the caller may not see.
 * @throws Failure `insufficient-scope`
 */
function withinStudy(keys: readonly QueryKey[], onlyStudy: string | undefined): readonly QueryKey[] {
	if (onlyStudy === undefined) return keys;
	const isStudy = ({ attribute }: QueryKey) => attribute === 'StudyInstanceUID';
	if (keys.some((key) => isStudy(key) && key.value !== onlyStudy)) {
		throw new Failure('insufficient-scope', 'the token is for one study: search by its StudyInstanceUID');
	}
	return [{ attribute: 'StudyInstanceUID', value: onlyStudy }, ...keys.filter((key) => !isStudy(key))];
}

/** @throws Failure `invalid` when a value cannot be matched; `insufficient-scope` */
function planned(level: SearchLevel, request: HttpRequest, parameters: SearchParameters, limit: number, onlyStudy?: string): PlannedQuery {
	const { keys, included, includesAll, offset, fuzzyNames } = parameters;
	const shown = includesAll ? everything[level] : [...defaultsOf(level, request.params), ...included];
	try {
		const asked = withinStudy([...keysOfPath(request.params), ...keys], onlyStudy);
		return planQuery({ level, keys: asked, shown, combinesMoments: true, fuzzyNames, count: limit, offset });
	} catch (error) {
		if (error instanceof MatchingError) throw new Failure('invalid', error.message, { cause: error });
		throw error;
	}
}

/**
 * Searches studies, series and instances of the site (QIDO-RS, PS3.18 §10.6). No match is an empty list with status 200.
 * @throws Failure `invalid`, `not-acceptable`, `unavailable`
 */
export async function search(context: DicomWebContext, request: HttpRequest, level: SearchLevel): Promise<HttpAnswer> {
	const grant = await authorizeReading(context, request);
	requireScope(grant.scopes, 'ImagingStudy', 's');
	const mediaType = jsonType(request);
	const parameters = searchParameters(request.query, context.limits);
	const limit = Math.min(parameters.limit ?? context.limits.qidoCountMax, context.limits.qidoCountMax);
	const { query, unsupported } = planned(level, request, parameters, limit, grant.onlyStudy);
	const { entities, next } = await searchImaging(context.reader, grant.siteId, query);
	const { source, requestId } = request;
	const studies = entities.map(({ StudyInstanceUID: study }) => study).filter((study) => typeof study === 'string');
	context.accesses.note({ grant, action: 'dicomweb.search', subject: level, studies, source, requestId });
	const base = baseOf(request);
	const warnings = [
		...parameters.ignored,
		...unsupported.map((attribute) => `The attribute ${attribute} is not of this level and has been ignored.`),
		...(next === undefined ? [] : ['There are additional results that can be requested.']),
	];
	const warning = warnings.length === 0 ? {} : { Warning: warnings.map((text) => `299 ${base}: "${text}"`).join(', ') };
	const body = JSON.stringify(entities.map((entity) => jsonOf(base, level, entity)));
	return { status: 200, headers: { 'Content-Type': mediaType, ...warning }, body };
}

function jsonOf(base: string, level: SearchLevel, entity: ImagingEntity): DicomJson {
	const elements = Object.entries(entity).map(([attribute, text]) => {
		const { tag, vr } = queryAttributes[attribute as ImagingAttribute];
		return [tag.toString(16).padStart(8, '0').toUpperCase(), elementOfText(vr, text)] as const;
	});
	const { StudyInstanceUID: study, SeriesInstanceUID: series, SOPInstanceUID: instance } = entity;
	const url = resourceUrl(
		base,
		study ?? '',
		level === 'STUDY' ? undefined : (series ?? ''),
		level === 'IMAGE' ? (instance ?? '') : undefined,
	);
	const added = [
		['00080056', { vr: 'CS', Value: ['ONLINE'] }],
		['00081190', { vr: 'UR', Value: [url] }],
	] as const;
	return Object.fromEntries([...elements, ...added].sort(([left], [right]) => (left < right ? -1 : 1)));
}
