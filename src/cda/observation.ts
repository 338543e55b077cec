import type { JsonObject } from '#core/json.ts';
import type { Annotation, CodeableConcept, Period, Reference } from '#fhir/datatypes.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import {
	annotations,
	authors,
	codeOrText,
	concept,
	identifiersOf,
	isNegated,
	isShort,
	notes,
	performers,
	put,
	type Reading,
	statusOf,
	timing,
} from './statement.ts';
import { absentReason, measured, rangeOf, typeOf, valueIn } from './value.ts';

const categories = {
	laboratory: 'Laboratory',
	'vital-signs': 'Vital Signs',
	'social-history': 'Social History',
	survey: 'Survey',
	exam: 'Exam',
	imaging: 'Imaging',
} as const;

export type ObservationCategory = keyof typeof categories;

/** Values that an observation inherits from the organizer and act around it. */
export interface Surroundings {
	category: ObservationCategory;
	/** The title of the section, for a panel whose code says nothing. */
	title: string;
	status: string;
	timing: JsonObject;
	/** True within an organizer or act that was created in error (ActStatus nullified). */
	isInError: boolean;
	performer: readonly Reference[];
	/** They stand for performers where there are none. */
	authors: readonly Reference[];
	specimen: Reference | undefined;
	/** Comments of the organizers and acts. */
	notes: readonly Annotation[];
}

/** Returns the values for an entry of a section. Observations of an imaging report state no status (DIR). */
export function surroundings(category: ObservationCategory, title: string): Surroundings {
	return {
		category,
		title: isShort(title) ? title : '',
		status: category === 'imaging' ? 'completed' : '',
		timing: {},
		isInError: false,
		performer: [],
		authors: [],
		specimen: undefined,
		notes: [],
	};
}

/** Returns the values that inner statements inherit. `parts` are those of an organizer or act, whose comments hold for the other parts. */
export function within(statement: XmlElement, outer: Surroundings, reading: Reading, parts: readonly XmlElement[] = []): Surroundings {
	const performer = performers(statement, reading.context);
	const author = authors(statement, reading.context);
	const when = effective(statement, reading);
	return {
		category: outer.category,
		title: outer.title,
		status: statusOf(statement) || outer.status,
		timing: Object.keys(when).length > 0 ? when : outer.timing,
		// What an observation is derived from may be right though that observation is not.
		isInError: outer.isInError || (statement.name !== 'observation' && statusOf(statement) === 'nullified'),
		performer: performer.length > 0 ? performer : outer.performer,
		authors: author.length > 0 ? author : outer.authors,
		specimen: specimenOf(statement, reading) ?? outer.specimen,
		notes: [...annotations(parts, reading), ...outer.notes],
	};
}

/** Returns the values that the statements inside one with `own` inherit. */
export function handedDown(statement: XmlElement, own: Surroundings, { context }: Reading): Surroundings {
	const isBrief = isShort([[...own.performer], [...own.authors], own.specimen ?? null]);
	if (!isBrief)
		context.skipped(statement, 'its performers, authors and specimen are too long to be repeated in each observation within it');
	const hasBriefNotes = isShort([...own.notes]);
	if (!hasBriefNotes) context.skipped(statement, 'its comments are too long to be repeated in each observation within it');
	const named = isBrief ? own : { ...own, performer: [], authors: [], specimen: undefined };
	return hasBriefNotes ? named : { ...named, notes: [] };
}

/** ActStatus as ObservationStatus (C-CDA on FHIR, CF-ResultStatus). */
const statusCodes: Readonly<Record<string, string>> = {
	completed: 'final',
	active: 'registered',
	held: 'registered',
	suspended: 'registered',
	aborted: 'cancelled',
	cancelled: 'cancelled',
	nullified: 'entered-in-error',
};

/** An organizer as the Observation of its panel. `own` is what holds within it, `members` what it has. */
export function panel(organizer: XmlElement, own: Surroundings, members: readonly JsonObject[], reading: Reading): JsonObject {
	const code = codeOrText(organizer.first('code'), organizer, reading);
	const when = Object.keys(own.timing).length > 0 ? own.timing : timeOf(members);
	const resource = base(organizer, code ?? { text: own.title || own.category }, { ...own, timing: when }, reading);
	put(resource, 'note', [...own.notes]);
	return resource;
}

/** Returns the period from the first to the last time of the members. */
function timeOf(members: readonly JsonObject[]): JsonObject {
	const times = members
		.flatMap(({ effectiveDateTime, effectivePeriod }) => {
			const { start, end } = (effectivePeriod ?? {}) as Period;
			return [effectiveDateTime as string | undefined, start, end].filter((time) => time !== undefined);
		})
		.toSorted((left, right) => Date.parse(left) - Date.parse(right));
	const [start] = times;
	const end = times.at(-1);
	if (start === undefined || end === undefined) return {};
	return Date.parse(start) === Date.parse(end) ? { effectiveDateTime: start } : { effectivePeriod: { start, end } };
}

/** An observation (C-CDA on FHIR, CF-results and CF-vitals). Undefined when neither a code nor a text says what was observed, or it is denied. */
export function observed(observation: XmlElement, own: Surroundings, reading: Reading): JsonObject | undefined {
	const { context } = reading;
	if (isNegated(observation)) {
		context.skipped(observation, 'it is negated, for which Observation has no element');
		return undefined;
	}
	const code = codeOrText(observation.first('code'), observation, reading);
	if (code === undefined) {
		context.skipped(observation, 'neither a code nor a text says what was observed');
		return undefined;
	}
	const resource = base(observation, code, own, reading);
	addValue(resource, observation, reading);
	put(
		resource,
		'interpretation',
		observation.children('interpretationCode').flatMap((element) => concept(element, reading, interpretationSystem) ?? []),
	);
	put(resource, 'note', [...notes(observation, reading), ...own.notes]);
	put(resource, 'bodySite', bodySite(observation, reading));
	put(resource, 'method', concept(observation.first('methodCode'), reading));
	put(resource, 'referenceRange', referenceRanges(observation, reading));
	return resource;
}

const interpretationSystem = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';

function base(statement: XmlElement, code: CodeableConcept, own: Surroundings, reading: Reading): JsonObject {
	const resource: JsonObject = {};
	put(resource, 'identifier', identifiersOf(statement, reading.context));
	resource['status'] = own.isInError ? 'entered-in-error' : (entryOf(statusCodes, own.status) ?? 'unknown');
	resource['category'] = [category(own.category)];
	resource['code'] = code;
	Object.assign(resource, own.timing);
	// The author asserts the value, which is what performer means in FHIR (CF-vitals).
	put(resource, 'performer', [...(own.performer.length > 0 ? own.performer : own.authors)]);
	put(resource, 'specimen', own.specimen);
	return resource;
}

function category(code: ObservationCategory): JsonObject {
	return { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code, display: categories[code] }] };
}

function effective(statement: XmlElement, { context }: Reading): JsonObject {
	const { dateTime, period } = timing(statement.first('effectiveTime'), context);
	if (dateTime !== undefined) return { effectiveDateTime: dateTime };
	return period === undefined ? {} : { effectivePeriod: period };
}

/** The source of the specimen has no resource here, so the reference only names it. */
function specimenOf(statement: XmlElement, reading: Reading): Reference | undefined {
	const role = statement.first('specimen', 'specimenRole');
	if (role === undefined) return undefined;
	const [identifier] = identifiersOf(role, reading.context);
	const entity = role.first('specimenPlayingEntity');
	const display = concept(entity?.first('code'), reading)?.text || reading.narrative.textIn(entity?.first('name'));
	if (identifier === undefined && !display) return undefined;
	return { type: 'Specimen', ...(identifier === undefined ? {} : { identifier }), ...(display ? { display } : {}) };
}

/** The first value that says something; without one, why there is none. */
function addValue(resource: JsonObject, observation: XmlElement, reading: Reading): void {
	const values = observation.children('value');
	for (const element of values) {
		const value = valueIn(element, reading);
		if (value === undefined) continue;
		resource[value.element] = value.value;
		for (const other of values.slice(values.indexOf(element) + 1)) reading.context.skipped(other, 'an observation has one value in FHIR');
		return;
	}
	const [first] = values;
	if (first !== undefined) resource['dataAbsentReason'] = absentReason(first.attribute('nullFlavor'));
}

/** FHIR has one. */
function bodySite(observation: XmlElement, reading: Reading): CodeableConcept | undefined {
	const [first, ...others] = observation.children('targetSiteCode');
	for (const other of others) reading.context.skipped(other, 'an observation has one site in FHIR');
	return concept(first, reading);
}

/** Ranges of what is normal: bounds and text (obs-3: one of them at least). */
function referenceRanges(observation: XmlElement, reading: Reading): JsonObject[] {
	const ranges = observation.all('referenceRange', 'observationRange');
	const abnormal = ranges.filter(isAbnormal);
	if (abnormal[0] !== undefined) reading.context.skipped(abnormal[0], `it is a range of what is not normal, one of ${abnormal.length}`);
	return ranges.flatMap((range) => {
		if (isAbnormal(range)) return [];
		const value = range.first('value');
		const isInterval = value !== undefined && typeOf(value).startsWith('IVL');
		const bounds = isInterval && !value.isNull ? rangeOf(value, reading) : undefined;
		const text = reading.narrative.textIn(range.first('text')) || (isInterval ? '' : rangeText(value, reading));
		if (bounds === undefined && text === '') return [];
		return [{ ...bounds, ...(text === '' ? {} : { text }) }];
	});
}

/** FHIR has ranges of what is normal, unless it says otherwise (C-CDA on FHIR, CF-results). */
function isAbnormal(range: XmlElement): boolean {
	const meaning = range.first('interpretationCode');
	return meaning !== undefined && !meaning.isNull && meaning.attribute('code') !== 'N';
}

function rangeText(value: XmlElement | undefined, reading: Reading): string {
	if (value === undefined) return '';
	const { value: measure, unit } = typeOf(value) === 'PQ' && value.isNull ? (measured(value, reading) ?? {}) : {};
	if (measure !== undefined) return unit === undefined ? JSON.stringify(measure) : `${JSON.stringify(measure)} ${unit}`;
	if (value.isNull) return '';
	const number = [value.attribute('value'), value.attribute('unit')].filter((part) => part !== '').join(' ');
	return number || (concept(value, reading)?.text ?? reading.narrative.textIn(value));
}
