import type { Json, JsonObject } from '#core/json.ts';
import { asObject, asObjects } from '../../elements.ts';
import { isObject } from '../fault.ts';
import { has, hasChoice, type Invariant, invariant, oneOf } from './invariant.ts';

const terminology = 'http://terminology.hl7.org/CodeSystem';

function hasCoding(concept: Json | undefined, system: string, ...codes: string[]): boolean {
	return asObjects(asObject(concept)?.['coding']).some(
		(coding) => coding['system'] === system && typeof coding['code'] === 'string' && codes.includes(coding['code']),
	);
}

const conditionIsError = (condition: JsonObject) =>
	hasCoding(condition['verificationStatus'], `${terminology}/condition-ver-status`, 'entered-in-error');
const allergyIsError = (allergy: JsonObject) =>
	hasCoding(allergy['verificationStatus'], `${terminology}/allergyintolerance-verification`, 'entered-in-error');
const isOver = (condition: JsonObject) =>
	hasCoding(condition['clinicalStatus'], `${terminology}/condition-clinical`, 'inactive', 'remission', 'resolved');

/** Returns system and code, by which codings are equal; undefined without a code. */
function sameness({ system, code }: JsonObject): string | undefined {
	return typeof code === 'string' ? JSON.stringify([system ?? null, code]) : undefined;
}

function codingsOf(concept: Json | undefined): string[] {
	return asObjects(asObject(concept)?.['coding'])
		.map(sameness)
		.filter((coding) => coding !== undefined);
}

/** obs-7 */
function componentsHaveOtherCodes(observation: JsonObject): boolean {
	const components = asObjects(observation['component']);
	if (components.length === 0 || !hasChoice(observation, 'value')) return true;
	const own = new Set(codingsOf(observation['code']));
	return !components.some((component) => codingsOf(component['code']).some((coding) => own.has(coding)));
}

const isNamed = oneOf('org-1', 'An organization has a name or an identifier', 'identifier', 'name');
/** Senders contain some of which they know less. */
const organizationIsNamed: Invariant = {
	...isNamed,
	rule: (organization, context, issues) => {
		if (!context.isContained) isNamed.rule(organization, context, issues);
	},
};

const isNotHome = (key: string, name: string) =>
	invariant(
		key,
		'The use home is not one of an organization',
		(organization) => !asObjects(organization[name]).some(({ use }) => use === 'home'),
		name,
	);

export const clinicalInvariants: Readonly<Record<string, readonly Invariant[]>> = {
	'Patient.contact': [
		oneOf('pat-1', 'A contact has a name, telecom, address or organization', 'name', 'telecom', 'address', 'organization'),
	],
	Condition: [
		invariant(
			'con-4',
			'A condition with an abatement has the clinicalStatus inactive, remission or resolved',
			(condition) => !hasChoice(condition, 'abatement') || isOver(condition),
			'clinicalStatus',
		),
		invariant(
			'con-5',
			'A condition that was entered in error has no clinicalStatus',
			(condition) => !has(condition, 'clinicalStatus') || !conditionIsError(condition),
			'clinicalStatus',
		),
	],
	'Condition.stage': [oneOf('con-1', 'A stage has a summary or an assessment', 'summary', 'assessment')],
	'Condition.evidence': [oneOf('con-2', 'Evidence has a code or a detail', 'code', 'detail')],
	AllergyIntolerance: [
		invariant(
			'ait-1',
			'An allergy that was not entered in error has a clinicalStatus',
			(allergy) => has(allergy, 'clinicalStatus') || allergyIsError(allergy),
			'clinicalStatus',
		),
		invariant(
			'ait-2',
			'An allergy that was entered in error has no clinicalStatus',
			(allergy) => !has(allergy, 'clinicalStatus') || !allergyIsError(allergy),
			'clinicalStatus',
		),
	],
	Observation: [
		invariant(
			'obs-6',
			'A dataAbsentReason stands only where there is no value',
			(observation) => !has(observation, 'dataAbsentReason') || !hasChoice(observation, 'value'),
			'dataAbsentReason',
		),
		invariant(
			'obs-7',
			'No component of an observation with a value has the code of the observation',
			componentsHaveOtherCodes,
			'component',
		),
	],
	'Observation.referenceRange': [oneOf('obs-3', 'A reference range has low, high or text', 'low', 'high', 'text')],
	Organization: [organizationIsNamed, isNotHome('org-2', 'address'), isNotHome('org-3', 'telecom')],
	ServiceRequest: [
		invariant('prr-1', 'orderDetail comes with a code', (request) => !has(request, 'orderDetail') || has(request, 'code'), 'orderDetail'),
	],
	'CarePlan.activity': [
		invariant(
			'cpl-3',
			'An activity has a reference or a detail, not both',
			(activity) => !has(activity, 'detail') || !has(activity, 'reference'),
		),
	],
	Group: [invariant('grp-1', 'Only an actual group has members', (group) => !has(group, 'member') || group['actual'] === true, 'member')],
	'Immunization.education': [oneOf('imm-1', 'Education has a documentType or a reference', 'documentType', 'reference')],
	'MedicationAdministration.dosage': [
		invariant('mad-1', 'A dosage has a dose or a rate', (dosage) => has(dosage, 'dose') || hasChoice(dosage, 'rate')),
	],
	'Goal.target': [
		invariant(
			'gol-1',
			'A target with a detail has a measure',
			(target) => !hasChoice(target, 'detail') || has(target, 'measure'),
			'measure',
		),
	],
	FamilyMemberHistory: [
		invariant('fhs-1', 'Either an age or a birth is given', (history) => !hasChoice(history, 'age') || !hasChoice(history, 'born')),
		invariant(
			'fhs-2',
			'estimatedAge comes with an age',
			(history) => !has(history, 'estimatedAge') || hasChoice(history, 'age'),
			'estimatedAge',
		),
	],
	'QuestionnaireResponse.item': [
		invariant('qrs-1', 'Items are nested in an item or in its answer, not in both', (item) => !has(item, 'answer') || !has(item, 'item')),
	],
	'CareTeam.participant': [invariant('ctm-1', 'Only a practitioner is there on behalf of somebody', isForPractitioner, 'onBehalfOf')],
};

/** The rule is checked only if the reference tells the type of the member. */
function isForPractitioner({ onBehalfOf, member }: JsonObject): boolean {
	if (onBehalfOf === undefined || !isObject(member)) return true;
	const { reference, type } = member;
	const named =
		typeof type === 'string' ? type : /(?:^|\/)([A-Za-z]+)\/[A-Za-z0-9.-]+$/.exec(typeof reference === 'string' ? reference : '')?.[1];
	return named === undefined || named === 'Practitioner';
}
