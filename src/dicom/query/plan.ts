import { type ImagingAttribute, type ImagingClause, type ImagingQuery, imagingAttributes, type QueryLevel } from '#record/imaging-query.ts';
import { textOf } from '../values.ts';
import { isAtOrAbove, levelOf } from './attributes.ts';
import { systemsOfIssuer } from './issuer.ts';
import { clausesOf, withCombinedMoments } from './matching.ts';

export interface QueryKey {
	attribute: ImagingAttribute;
	/** Decoded text; several values are parted by `\`. Empty: universal matching. */
	value: string;
}

export interface QueryRequest {
	level: QueryLevel;
	/** Keys to match; a key with an empty value is only shown. */
	keys: readonly QueryKey[];
	/** Attributes that are shown beside the keys. */
	shown?: readonly ImagingAttribute[];
	/** True if the ranges of a date and of its time form one range of moments. */
	combinesMoments: boolean;
	/** True for fuzzy matching of person names. */
	fuzzyNames?: boolean;
	/** Answers of a page at most. */
	count: number;
	offset?: number;
}

export interface PlannedQuery {
	query: ImagingQuery;
	/** Keys with a value that lie below the level: they are not matched and not shown. */
	unsupported: readonly ImagingAttribute[];
}

/** The attributes that identify an entity; every answer shows them. */
export const uniqueKeys: Readonly<Record<QueryLevel, ImagingAttribute>> = {
	PATIENT: 'PatientID',
	STUDY: 'StudyInstanceUID',
	SERIES: 'SeriesInstanceUID',
	IMAGE: 'SOPInstanceUID',
};

/**
 * A query over keys of its level and those above it (PS3.4 C.4.1.2, C.4.1.3; relational, as C.4.1.2.2 allows).
 * @throws MatchingError when a value cannot be matched
 */
export function planQuery({ level, keys, shown = [], combinesMoments, fuzzyNames = false, count, offset = 0 }: QueryRequest): PlannedQuery {
	const within = ({ attribute }: QueryKey) => isAtOrAbove(levelOf(attribute), level);
	const clauses = keys.filter(within).flatMap(({ attribute, value }) => clausesOf(attribute, value, fuzzyNames));
	const attributes = [uniqueKeys[level], ...keys.map(({ attribute }) => attribute), ...shown];
	return {
		query: {
			level,
			clauses: combinesMoments ? withCombinedMoments(clauses) : clauses,
			attributes: [...new Set(attributes)].filter((attribute) => isAtOrAbove(levelOf(attribute), level)),
			count,
			after: undefined,
			offset,
		},
		unsupported: keys.filter((key) => !within(key) && key.value !== '').map(({ attribute }) => attribute),
	};
}

/** Everything that can be said at a level. */
export function attributesOfLevel(level: QueryLevel): readonly ImagingAttribute[] {
	return imagingAttributes[level];
}

/**
 * Clauses that select what is retrieved by unique keys (PS3.4 C.4.2.1.4, C.4.3.1.3), and by the issuer of a patient id: lists of
 * values, no wildcards.
 */
export function uniqueKeyClauses(keys: readonly QueryKey[]): ImagingClause[] {
	return keys.map(({ attribute, value }) => {
		const values = value.split('\\').flatMap((text) => textOf(text) ?? []);
		return { kind: 'equals', attribute, values: attribute === 'IssuerOfPatientID' ? values.flatMap(systemsOfIssuer) : values };
	});
}
