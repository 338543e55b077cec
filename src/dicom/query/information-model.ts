import type { ImagingAttribute, QueryLevel } from '#record/imaging-query.ts';
import { queryAttributeOf } from './attributes.ts';
import type { Identifier } from './identifier.ts';
import { MatchingError } from './matching.ts';
import { type QueryKey, uniqueKeys } from './plan.ts';

export type InformationModel = 'patient-root' | 'study-root';

const levelsOf: Readonly<Record<InformationModel, readonly QueryLevel[]>> = {
	'patient-root': ['PATIENT', 'STUDY', 'SERIES', 'IMAGE'],
	'study-root': ['STUDY', 'SERIES', 'IMAGE'],
};

export const queryRetrieveLevel = 0x0008_0052;

/** Attributes that an identifier may hold beside its keys: character set, level, retrieve AE title, availability, time zone. */
const notKeys: ReadonlySet<number> = new Set([0x0008_0005, queryRetrieveLevel, 0x0008_0054, 0x0008_0056, 0x0008_0201]);

/** The question that an identifier asks. */
export interface Question {
	level: QueryLevel;
	keys: readonly QueryKey[];
	/** It has keys that are not known here. */
	hasUnknownKeys: boolean;
}

function levelOfIdentifier(model: InformationModel, { elements }: Identifier): QueryLevel {
	const text = elements.get(queryRetrieveLevel)?.trim();
	const level = levelsOf[model].find((candidate) => candidate === text);
	if (level === undefined) throw new MatchingError('Query/Retrieve Level is missing or not of this model');
	return level;
}

/** Levels above one, within the model. */
function levelsAbove(model: InformationModel, level: QueryLevel): readonly QueryLevel[] {
	const levels = levelsOf[model];
	return levels.slice(0, levels.indexOf(level));
}

function requireSingle(attribute: ImagingAttribute, value: string | undefined): void {
	if (value === undefined || value.trim() === '') throw new MatchingError(`${attribute} is missing`);
	if (/[*?\\]/.test(value)) throw new MatchingError(`${attribute} is not a single value`);
}

/**
 * Reads the identifier of a C-FIND (PS3.4 C.4.1.2.1): without relational queries each level above needs its unique key.
 * @throws MatchingError when it does not fit the information model
 */
export function questionOf(model: InformationModel, identifier: Identifier, { relational }: { relational: boolean }): Question {
	const level = levelOfIdentifier(model, identifier);
	const keys: QueryKey[] = [];
	let hasUnknownKeys = false;
	for (const [tag, value] of identifier.elements) {
		if (notKeys.has(tag) || (tag & 0xff_ff) === 0) continue;
		const attribute = queryAttributeOf(tag);
		if (attribute === undefined || value === undefined) hasUnknownKeys = true;
		else keys.push({ attribute, value });
	}
	if (!relational) {
		for (const above of levelsAbove(model, level)) {
			requireSingle(uniqueKeys[above], keys.find(({ attribute }) => attribute === uniqueKeys[above])?.value);
		}
	}
	return { level, keys, hasUnknownKeys };
}

/**
 * Reads the identifier of a C-MOVE or C-GET (PS3.4 C.4.2.1.4.1, C.4.3.1.3.1): the unique key of the level, a list of UIDs
 * allowed, and a single one for each level above; the issuer of a Patient ID narrows it, other keys do not count.
 * @throws MatchingError when it does not fit the information model
 */
export function selectionOf(
	model: InformationModel,
	identifier: Identifier,
	{ relational }: { relational: boolean },
): { level: QueryLevel; keys: readonly QueryKey[] } {
	const { level, keys } = questionOf(model, identifier, { relational });
	const unique = [...levelsAbove(model, level), level].map((of) => uniqueKeys[of]);
	// A Patient ID means nobody without its issuer.
	const wanted: readonly ImagingAttribute[] = unique.includes('PatientID') ? [...unique, 'IssuerOfPatientID'] : unique;
	const selected = keys.filter(({ attribute, value }) => wanted.includes(attribute) && value.trim() !== '');
	const own = selected.find(({ attribute }) => attribute === uniqueKeys[level])?.value;
	if (level === 'PATIENT') requireSingle('PatientID', own);
	else if (own === undefined) throw new MatchingError(`${uniqueKeys[level]} is missing`);
	return { level, keys: selected };
}
