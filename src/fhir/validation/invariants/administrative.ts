import type { Json } from '#core/json.ts';
import { asObject, asObjects } from '../../elements.ts';
import { eitherOr, has, type Invariant, invariant, items, notBoth, oneOf } from './invariant.ts';

const isOneOf = (value: Json | undefined, ...codes: string[]): boolean => typeof value === 'string' && codes.includes(value);

const someHas = (value: Json | undefined, name: string): boolean => asObjects(value).some((item) => has(item, name));

const percent = (value: Json | undefined): boolean => {
	const limit = asObject(value);
	return limit === undefined || (limit['code'] === '%' && limit['system'] === 'http://unitsofmeasure.org');
};

/** Appointments, documents, lists and what else surrounds the care of a patient. */
export const administrativeInvariants: Readonly<Record<string, readonly Invariant[]>> = {
	Appointment: [
		invariant('app-2', 'start and end are both given or neither', (it) => has(it, 'start') === has(it, 'end')),
		invariant(
			'app-3',
			'Only an appointment that is proposed, cancelled or on the waitlist has no start and end',
			(it) => (has(it, 'start') && has(it, 'end')) || isOneOf(it['status'], 'proposed', 'cancelled', 'waitlist'),
		),
		invariant(
			'app-4',
			'Only an appointment that is cancelled or noshow has a cancelationReason',
			(it) => !has(it, 'cancelationReason') || isOneOf(it['status'], 'noshow', 'cancelled'),
			'cancelationReason',
		),
	],
	'Appointment.participant': [oneOf('app-1', 'A participant has a type or an actor', 'type', 'actor')],
	AppointmentResponse: [oneOf('apr-1', 'A participantType or an actor is given', 'participantType', 'actor')],
	'AuditEvent.entity': [notBoth('sev-1', 'An entity has a name or a query, not both', 'name', 'query')],
	'Composition.section': [
		oneOf('cmp-1', 'A section has a text, entries or sections', 'text', 'entry', 'section'),
		notBoth('cmp-2', 'Only a section without entries has an emptyReason', 'entry', 'emptyReason'),
	],
	Consent: [oneOf('ppc-1', 'A policy or a policyRule is given', 'policy', 'policyRule')],
	'CoverageEligibilityResponse.insurance.item': [
		eitherOr('ces-1', 'An item has a category or a productOrService, not both', 'category', 'productOrService'),
	],
	'ImmunizationRecommendation.recommendation': [
		oneOf('imr-1', 'A recommendation has a vaccineCode or a targetDisease', 'vaccineCode', 'targetDisease'),
	],
	InsurancePlan: [oneOf('ipn-1', 'A plan has a name or an identifier', 'identifier', 'name')],
	Linkage: [invariant('lnk-1', 'A linkage has at least two items', ({ item }) => items(item).length > 1, 'item')],
	List: [
		notBoth('lst-1', 'Only a list without entries has an emptyReason', 'entry', 'emptyReason'),
		invariant('lst-2', 'Only a list of changes has deleted entries', (it) => it['mode'] === 'changes' || !someHas(it['entry'], 'deleted')),
		invariant('lst-3', 'Only a working list has entries with a date', (it) => it['mode'] === 'working' || !someHas(it['entry'], 'date')),
	],
	MeasureReport: [
		invariant('mrp-1', 'A report of data-collection has no groups', (it) => it['type'] !== 'data-collection' || !has(it, 'group'), 'group'),
	],
	MolecularSequence: [
		invariant('msq-3', 'coordinateSystem is 0 or 1', ({ coordinateSystem: base }) => base === 0 || base === 1, 'coordinateSystem'),
	],
	'MolecularSequence.referenceSeq': [
		invariant('msq-5', 'chromosome and genomeBuild are both given or neither', (it) => has(it, 'chromosome') === has(it, 'genomeBuild')),
		eitherOr(
			'msq-6',
			'One of genomeBuild, referenceSeqId, referenceSeqPointer and referenceSeqString is given',
			...['genomeBuild', 'referenceSeqId', 'referenceSeqPointer', 'referenceSeqString'],
		),
	],
	'RequestGroup.action': [eitherOr('rqg-1', 'An action has a resource or actions, not both', 'resource', 'action')],
	'RiskAssessment.prediction': [
		invariant(
			'ras-1',
			'The limits of a probability are in %',
			({ probabilityRange }) => percent(asObject(probabilityRange)?.['low']) && percent(asObject(probabilityRange)?.['high']),
			'probabilityRange',
		),
		invariant(
			'ras-2',
			'A probability is at most 100',
			({ probabilityDecimal }) => probabilityDecimal === undefined || Number(JSON.stringify(probabilityDecimal)) <= 100,
			'probabilityDecimal',
		),
	],
	'TestReport.test.action': [eitherOr('inv-2', 'An action has an operation or an assert, not both', 'operation', 'assert')],
	'TestReport.setup.action': [eitherOr('inv-1', 'An action has an operation or an assert, not both', 'operation', 'assert')],
};
