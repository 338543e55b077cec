import type { Json, JsonObject } from '#core/json.ts';
import type { CodeableConcept } from '#fhir/datatypes.ts';
import { entryOf } from '#fhir/mapping/table.ts';
import { time } from '#hl7v3/datatypes/ts.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import { snomed } from './problem.ts';
import {
	authorship,
	type Concern,
	codeOrText,
	concept,
	conformsTo,
	identifiersOf,
	informant,
	isDenied,
	isInError,
	isNegated,
	isShort,
	notes,
	put,
	type Reading,
	relatedObservation,
	relatedTo,
	timing,
} from './statement.ts';
import { allergyObservations, criticalities, reactions, severities, statuses } from './templates.ts';

const terminology = 'http://terminology.hl7.org/CodeSystem/';
const abatementUrl = 'http://hl7.org/fhir/StructureDefinition/allergyintolerance-abatement';

interface Kind {
	type?: string;
	category?: string;
	/** SNOMED CT, of "no known …". */
	none?: string;
}

const drugs = { category: 'medication', none: '409137002' };
const foods = { category: 'food', none: '429625007' };
const environment = { category: 'environment', none: '428607008' };
/**
 * Kinds of allergy (C-CDA on FHIR, CF-AllergyIntoleranceType, -Category and CF-NoKnownAllergies), and those of v3 ActCode
 * (ObservationIntoleranceType), which older documents have.
 */
const kinds: Readonly<Record<string, Kind>> = {
	'419199007': { type: 'allergy', none: '716186003' },
	'418038007': {},
	'420134006': {},
	'416098002': { type: 'allergy', ...drugs },
	'419511003': drugs,
	'59037007': { type: 'intolerance', ...drugs },
	'414285001': { type: 'allergy', ...foods },
	'418471000': foods,
	'235719002': { type: 'intolerance', ...foods },
	'426232007': { type: 'allergy', ...environment },
	'232347008': { type: 'allergy', ...environment },
	'106190000': { type: 'allergy' },
	ALG: { type: 'allergy' },
	DALG: { type: 'allergy', ...drugs },
	FALG: { type: 'allergy', ...foods },
	EALG: { type: 'allergy', ...environment },
	OINT: {},
	DINT: drugs,
	FINT: foods,
	EINT: environment,
	NAINT: { type: 'intolerance' },
	DNAINT: { type: 'intolerance', ...drugs },
	FNAINT: { type: 'intolerance', ...foods },
	ENAINT: { type: 'intolerance', ...environment },
};
const noneDisplays: Readonly<Record<string, string>> = {
	'716186003': 'No known allergy',
	'409137002': 'No known drug allergy',
	'429625007': 'No known food allergy',
	'428607008': 'No known environmental allergy',
};

/**
 * An allergy observation as AllergyIntolerance (C-CDA on FHIR, CF-allergies). `concern` is the act that it stands in.
 * Empty when nothing says what the allergy is to.
 */
export function allergies(observation: XmlElement, concern: Concern | undefined, reading: Reading): JsonObject[] {
	const cause = causeOf(observation);
	if (cause === undefined) return allergiesOf(observation, concern, reading);
	const found = allergiesOf(cause, concern, reading);
	const manifestation = concept(observation.first('code'), reading);
	if (manifestation === undefined) return found;
	return found.map((resource) => ({ ...resource, reaction: [{ manifestation: [manifestation] }] }));
}

/**
 * One for each substance. CDA R2 allows several consumables, of which C-CDA wants one; FHIR has one, and to leave out the others would hide
 * what the patient may not have.
 */
function allergiesOf(observation: XmlElement, concern: Concern | undefined, reading: Reading): JsonObject[] {
	const [substance, ...others] = substancesOf(observation, reading);
	const resource = allergyOf(observation, substance, concern, reading);
	if (resource === undefined) return [];
	if (others.length === 0) return [resource];
	if (!isShort(resource)) {
		reading.context.skipped(observation, `it has ${others.length} more substances, for which what it says is too long to be repeated`);
		return [resource];
	}
	const text = `${observation.path} names ${others.length + 1} substances; each is an allergy here, with all that it says of reactions`;
	reading.context.flag('segment-skipped', text);
	return [resource, ...others.map((code) => ({ ...resource, code }))];
}

/**
 * CDA R2 without templates may state the reaction, of which the allergy is the cause: what is related by MFST is shown by
 * the outer one, unless the relation is inverted as in C-CDA.
 */
function causeOf(observation: XmlElement): XmlElement | undefined {
	if (observation.first('value') !== undefined || conformsTo(observation, allergyObservations)) return undefined;
	return relatedTo(observation).find(
		({ statement, typeCode, isInverted }) =>
			statement.name === 'observation' && typeCode === 'MFST' && !isInverted && !conformsTo(statement, reactions),
	)?.statement;
}

function allergyOf(
	observation: XmlElement,
	substance: CodeableConcept | undefined,
	concern: Concern | undefined,
	reading: Reading,
): JsonObject | undefined {
	const { context } = reading;
	const value = observation.first('value');
	const kind = entryOf(kinds, value?.attribute('code') ?? '') ?? entryOf(kinds, observation.first('code')?.attribute('code') ?? '');
	const isNone = isDenied(observation, concern) && substance === undefined && !isAllergyItself(observation, kind, reading);
	const code = isNone ? noKnown(kind, value, reading) : (substance ?? codeOrText(valueOrCode(observation), observation, reading));
	if (code === undefined) return undefined;
	const resource: JsonObject = {};
	const end = time(observation.first('effectiveTime', 'high'), context);
	if (end !== undefined) resource['extension'] = [{ url: abatementUrl, valueDateTime: end }];
	put(resource, 'identifier', identifiersOf(observation, context));
	const verification = verificationOf(observation, concern, isNone);
	// Ait-2: what was entered in error has no clinical status.
	if (verification !== 'entered-in-error') {
		resource['clinicalStatus'] = coded('allergyintolerance-clinical', clinicalStatus(observation, concern, end !== undefined));
	}
	resource['verificationStatus'] = coded('allergyintolerance-verification', verification);
	put(resource, 'type', kind?.type);
	put(resource, 'category', kind?.category === undefined ? undefined : [kind.category]);
	put(resource, 'criticality', criticality(observation));
	resource['code'] = code;
	const period = observation.first('effectiveTime');
	put(resource, 'onsetDateTime', time(period?.first('low'), context) ?? time(period, context));
	const { author, recorded } = authorship(observation, context) ?? concern?.authorship ?? {};
	put(resource, 'recordedDate', recorded);
	put(resource, 'recorder', author);
	put(resource, 'asserter', informant(observation, context) ?? concern?.informant);
	put(resource, 'note', [...notes(observation, reading), ...(concern?.notes ?? [])]);
	put(resource, 'reaction', reactionsOf(observation, reading));
	return resource;
}

/** A value that is no kind of allergy, where no substance has a place, is the allergy: denying it denies no other one. */
function isAllergyItself(observation: XmlElement, kind: Kind | undefined, reading: Reading): boolean {
	if (kind !== undefined || observation.children('participant').some((one) => one.attribute('typeCode') === 'CSM')) return false;
	return concept(observation.first('value'), reading)?.coding !== undefined;
}

function coded(system: string, code: string): JsonObject {
	return { coding: [{ system: terminology + system, code }] };
}

/** Returns the substances: the consumables of the statement. */
function substancesOf(observation: XmlElement, reading: Reading): CodeableConcept[] {
	const found = new Map<string, CodeableConcept>();
	for (const participant of observation.children('participant')) {
		if (participant.attribute('typeCode') !== 'CSM') continue;
		const entity = participant.first('participantRole', 'playingEntity');
		const name = concept(entity?.first('code'), reading) ?? { text: reading.narrative.textIn(entity?.first('name')) };
		if (name.coding !== undefined || name.text !== '') found.set(JSON.stringify(name), name);
	}
	return [...found.values()];
}

/** CDA R2 without templates may have the allergy as the code of the observation. */
function valueOrCode(observation: XmlElement): XmlElement | undefined {
	const code = observation.first('code');
	return observation.first('value') ?? (code?.attribute('code') === 'ASSERTION' ? undefined : code);
}

function noKnown(kind: Kind | undefined, value: XmlElement | undefined, reading: Reading): CodeableConcept {
	const code = kind?.none ?? '716186003';
	const display = noneDisplays[code] as string;
	return { coding: [{ system: snomed, code, display }], text: reading.narrative.textIn(value?.first('originalText')) || display };
}

/** Maps allergy status observations (C-CDA on FHIR, CF-AllergyStatus; CCD and C32 use the same codes). */
const clinicalStatuses: Readonly<Record<string, string>> = {
	'55561003': 'active',
	'73425007': 'inactive',
	'413322009': 'resolved',
	'392521001': 'inactive',
};

function clinicalStatus(observation: XmlElement, concern: Concern | undefined, hasEnded: boolean): string {
	const code = relatedObservation(observation, statuses, '33999-4')?.first('value')?.attribute('code') ?? '';
	const stated = entryOf(clinicalStatuses, code);
	if (stated !== undefined) return stated;
	if (hasEnded) return 'resolved';
	return ['completed', 'suspended', 'aborted'].includes(concern?.status ?? '') ? 'inactive' : 'active';
}

function verificationOf(observation: XmlElement, concern: Concern | undefined, isNone: boolean): string {
	if (isInError(observation, concern)) return 'entered-in-error';
	return isDenied(observation, concern) && !isNone ? 'refuted' : 'confirmed';
}

const criticalityCodes: Readonly<Record<string, string>> = { CRITH: 'high', CRITL: 'low', CRITU: 'unable-to-assess' };

function criticality(observation: XmlElement): string | undefined {
	const code = relatedObservation(observation, criticalities, '82606-5')?.first('value')?.attribute('code') ?? '';
	return entryOf(criticalityCodes, code);
}

/** C-CDA on FHIR, CF-Severity; the degrees between two are the worse of them, as is one that is fatal. */
const severityCodes: Readonly<Record<string, string>> = {
	'255604002': 'mild',
	'371923003': 'moderate',
	'6736007': 'moderate',
	'371924009': 'severe',
	'24484000': 'severe',
	'399166001': 'severe',
	L: 'mild',
	M: 'moderate',
	H: 'severe',
};

function severityOf(observation: XmlElement): string | undefined {
	const code = relatedObservation(observation, severities, 'SEV')?.first('value')?.attribute('code') ?? '';
	return entryOf(severityCodes, code);
}

/** Returns the reactions. The severity of the allergy counts for each reaction that states none. */
function reactionsOf(observation: XmlElement, reading: Reading): JsonObject[] {
	const severity = severityOf(observation);
	const found: JsonObject[] = [];
	for (const { statement, typeCode } of relatedTo(observation)) {
		if (statement.name !== 'observation' || !(typeCode === 'MFST' || conformsTo(statement, reactions))) continue;
		const manifestation = isNegated(statement) ? undefined : codeOrText(valueOrCode(statement), statement, reading);
		if (manifestation === undefined) {
			if (!statement.isNull) reading.context.skipped(statement, 'the reaction says nothing of what it showed, or denies it');
			continue;
		}
		const reaction: Record<string, Json> = { manifestation: [manifestation] };
		const { dateTime, period } = timing(statement.first('effectiveTime'), reading.context);
		put(reaction, 'onset', dateTime ?? period?.start);
		put(reaction, 'severity', severityOf(statement) ?? severity);
		put(reaction, 'note', notes(statement, reading));
		found.push(reaction);
	}
	const severest = relatedObservation(observation, severities, 'SEV');
	if (severest !== undefined && severity !== undefined && found.length === 0) {
		reading.context.skipped(severest, 'FHIR has a severity of reactions only, and no reaction is stated');
	}
	return found;
}
