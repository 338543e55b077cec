import type { Json, JsonObject } from '#core/json.ts';
import type { CodeableConcept } from '#fhir/datatypes.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { time } from '#hl7v3/datatypes/ts.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import {
	authorship,
	type Concern,
	codeOrText,
	concept,
	concepts,
	identifiersOf,
	informant,
	isDenied,
	isInError,
	notes,
	put,
	type Reading,
	relatedObservation,
	relatedTo,
	timing,
} from './statement.ts';
import { agesAtOnset, severities, statuses } from './templates.ts';
import { quantity } from './value.ts';

const terminology = 'http://terminology.hl7.org/CodeSystem/';
export const snomed = 'http://snomed.info/sct';
const absentReasonUrl = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason';

const categories = {
	'problem-list-item': 'Problem List Item',
	'encounter-diagnosis': 'Encounter Diagnosis',
} as const;

export type ProblemCategory = keyof typeof categories;

/**
 * A problem observation as Condition (C-CDA on FHIR, CF-problems). `concern` is the act that it stands in. Undefined when
 * neither a code nor a text says what the problem is.
 */
export function condition(
	observation: XmlElement,
	concern: Concern | undefined,
	category: ProblemCategory,
	reading: Reading,
): JsonObject | undefined {
	const isNegated = isDenied(observation, concern);
	const problem = problemOf(observation, isNegated, reading);
	if (problem === undefined) return undefined;
	const { context } = reading;
	const resource: JsonObject = {};
	put(resource, 'extension', assertedDate(observation, reading));
	put(resource, 'identifier', identifiersOf(observation, context));
	const course = courseOf(observation, concern, reading);
	const isError = isInError(observation, concern);
	const verification = isNegated && !problem.isNone ? 'refuted' : (course.ruledOut ?? 'confirmed');
	// Con-5: what was entered in error has no clinical status; con-4: and so no end.
	if (!isError) resource['clinicalStatus'] = code('condition-clinical', course.status);
	resource['verificationStatus'] = code('condition-ver-status', isError ? 'entered-in-error' : verification);
	resource['category'] = [
		{ coding: [{ system: `${terminology}condition-category`, code: category, display: categories[category] }] },
		...typesOf(observation, problem.fromValue, reading),
	];
	put(resource, 'severity', concept(relatedObservation(observation, severities, 'SEV')?.first('value'), reading));
	resource['code'] = problem.code;
	put(resource, 'bodySite', concepts(observation.children('targetSiteCode'), reading));
	put(resource, 'onsetDateTime', course.onset);
	if (course.onset === undefined) put(resource, 'onsetAge', ageAtOnset(observation, reading));
	if (!isError) for (const [element, value] of Object.entries(course.abatement)) resource[element] = value;
	const { author, recorded } = authorship(observation, context) ?? concern?.authorship ?? {};
	put(resource, 'recordedDate', recorded);
	put(resource, 'recorder', author);
	put(resource, 'asserter', informant(observation, context) ?? concern?.informant);
	put(resource, 'note', [...notes(observation, reading), ...(concern?.notes ?? [])]);
	return resource;
}

const assertedDateUrl = 'http://hl7.org/fhir/StructureDefinition/condition-assertedDate';

/** C-CDA Date of Diagnosis Act. */
function assertedDate(observation: XmlElement, { context }: Reading): JsonObject[] {
	const act = relatedTo(observation).find(({ statement }) => statement.first('code')?.attribute('code') === '77975-1')?.statement;
	const when = timing(act?.first('effectiveTime'), context);
	const valueDateTime = when.dateTime ?? when.period?.start;
	return valueDateTime === undefined ? [] : [{ url: assertedDateUrl, valueDateTime }];
}

function code(system: string, value: string): JsonObject {
	return { coding: [{ system: terminology + system, code: value }] };
}

/** Types of a problem, which say nothing of which one it is (2.16.840.1.113883.3.88.12.3221.7.2, and what R1 and CCD use). */
const problemTypes: ReadonlySet<string> = new Set([
	...['55607006', '404684003', '409586006', '282291009', '64572001', '248536006', '418799008', '373930000', '14657009'],
	...['29308-4', '75326-9', '75325-1', '75324-4', '75323-6', '75322-8', '75321-0', '75319-4', '75318-6', '75315-2', '75314-5', '75313-7'],
	...['75312-9', '89261-2', 'ASSERTION', 'DX', '29299-5'],
]);

interface Problem {
	code: CodeableConcept;
	/** There are none: a statement of its own, and no refuted problem. */
	isNone: boolean;
	fromValue: boolean;
}

const anyProblem: ReadonlySet<string> = new Set(['55607006', '64572001', '404684003']);
const noProblems = { system: snomed, code: '160245001', display: 'No current problems or disability' };

function problemOf(observation: XmlElement, isNegated: boolean, reading: Reading): Problem | undefined {
	const [value, ...others] = observation.children('value');
	for (const other of others) reading.context.skipped(other, 'a problem has one value here');
	if (value !== undefined && isNegated && anyProblem.has(value.attribute('code'))) {
		const text = reading.narrative.textIn(value.first('originalText')) || noProblems.display;
		return { code: { coding: [noProblems], text }, isNone: true, fromValue: true };
	}
	const own = observation.first('code');
	// CDA R2 without templates may have the problem as the code of the observation.
	const isCode = value === undefined && !problemTypes.has(own?.attribute('code') ?? '');
	const found = codeOrText(isCode ? own : value, observation, reading);
	return found && { code: found, isNone: false, fromValue: !isCode };
}

/** Returns the kind of problem that the observation states. */
function typesOf(observation: XmlElement, fromValue: boolean, reading: Reading): CodeableConcept[] {
	const own = observation.first('code');
	if (!fromValue || own === undefined || own.attribute('code') === 'ASSERTION') return [];
	return concepts([own], reading).filter(({ coding }) => coding !== undefined);
}

/** Maps problem status observations (C-CDA on FHIR, CF-ProblemStatus; the other codes come from C32). */
const clinicalStatuses: Readonly<Record<string, string>> = {
	'55561003': 'active',
	'90734009': 'active',
	'7087005': 'active',
	'255227004': 'recurrence',
	'246455001': 'recurrence',
	'263855007': 'relapse',
	'277022003': 'remission',
	'73425007': 'inactive',
	'413322009': 'resolved',
};
const ended: ReadonlySet<string> = new Set(['inactive', 'remission', 'resolved']);
const ruledOut: Readonly<Record<string, string>> = { '410516002': 'refuted', '415684004': 'unconfirmed' };

interface Course {
	status: string;
	/** The certainty that the status observation states. */
	ruledOut: string | undefined;
	onset: string | undefined;
	abatement: Record<string, Json>;
}

/**
 * Status and times. An end, be its time unknown, makes the problem resolved; `inactive` where the status observation calls
 * it active nevertheless (con-4).
 */
function courseOf(observation: XmlElement, concern: Concern | undefined, reading: Reading): Course {
	const { context } = reading;
	const period = observation.first('effectiveTime');
	const high = period?.first('high');
	const end = time(high, context);
	const hasEnded = end !== undefined || high?.attributes['nullFlavor'] === 'UNK';
	const statedCode = relatedObservation(observation, statuses, '33999-4')?.first('value')?.attribute('code') ?? '';
	const stated = entryOf(clinicalStatuses, statedCode);
	const abatement: Record<string, Json> = {};
	if (end !== undefined) abatement['abatementDateTime'] = end;
	else if (hasEnded) abatement['_abatementDateTime'] = { extension: [{ url: absentReasonUrl, valueCode: 'unknown' }] };
	return {
		status: hasEnded ? endedStatus(stated) : (stated ?? concernStatus(concern)),
		ruledOut: entryOf(ruledOut, statedCode),
		onset: time(period?.first('low'), context) ?? time(period, context),
		abatement,
	};
}

function endedStatus(stated: string | undefined): string {
	if (stated === undefined) return 'resolved';
	return ended.has(stated) ? stated : 'inactive';
}

/** Maps the status of the act (CF-ConditionClinicalStatus). A completed concern is no longer tracked. */
function concernStatus(concern: Concern | undefined): string {
	return ['completed', 'suspended', 'aborted'].includes(concern?.status ?? '') ? 'inactive' : 'active';
}

/** A year where no unit is given; undefined for what is no age (age-1). */
function ageAtOnset(observation: XmlElement, { context }: Reading): JsonObject | undefined {
	const value = relatedObservation(observation, agesAtOnset, '445518008')?.first('value');
	const age = quantity(value, context);
	if (age === undefined || value === undefined) return undefined;
	if (!(Number(JSON.stringify(age.value)) > 0)) {
		context.unreadable(value, 'is no age and was left out');
		return undefined;
	}
	const unit = age.code ?? 'a';
	return { value: age.value ?? 0, unit, system: 'http://unitsofmeasure.org', code: unit };
}
