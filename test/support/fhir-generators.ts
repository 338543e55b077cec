import type { Arbitrary } from 'fast-check';
import type { Json, JsonObject } from '#core/json.ts';
import {
	address,
	age,
	annotation,
	attachment,
	codeableConcept,
	codes,
	coding,
	concept,
	contactPoint,
	date,
	dateTime,
	element,
	extension,
	humanName,
	identifier,
	identity,
	instant,
	joined,
	list,
	narrative,
	period,
	quantity,
	range,
	ratio,
	reference,
	sampledData,
	simpleQuantity,
	text,
	time,
	timing,
	uri,
	variants,
} from './fhir-datatype-generators.ts';
import { fc } from './fuzzing.ts';

/**
 * Valid FHIR R4 resources of every type that is served: with extensions, contained resources, siblings of primitives, and
 * decimals as `parseExact` reads them. Without id, meta.versionId and meta.lastUpdated, which the service gives.
 */
export interface GeneratorOptions {
	/** The ids that references to Patient may carry; any where it is absent. */
	patientIds?: readonly string[];
}

export const generatedTypes = [
	'Patient',
	'Condition',
	'AllergyIntolerance',
	'Observation',
	'Procedure',
	'DocumentReference',
	'DiagnosticReport',
	'Encounter',
] as const;
export type GeneratedType = (typeof generatedTypes)[number];

type Members = Record<string, Arbitrary<Json>>;

const terminology = 'http://terminology.hl7.org/CodeSystem';

export function resourceOf(type: GeneratedType, options: GeneratorOptions = {}): Arbitrary<JsonObject> {
	return generators[type](options);
}

export function anyResource(options: GeneratorOptions = {}): Arbitrary<JsonObject> {
	return fc.oneof(...generatedTypes.map((type) => resourceOf(type, options)));
}

const generators: Record<GeneratedType, (options: GeneratorOptions) => Arbitrary<JsonObject>> = {
	Patient: patient,
	Condition: condition,
	AllergyIntolerance: allergyIntolerance,
	Observation: observation,
	Procedure: procedure,
	DocumentReference: documentReference,
	DiagnosticReport: diagnosticReport,
	Encounter: encounter,
};

function patientReference({ patientIds }: GeneratorOptions): Arbitrary<JsonObject> {
	const id = patientIds ? fc.constantFrom(...patientIds) : identity;
	return fc.tuple(id, fc.option(text, { nil: undefined })).map(([value, display]) => {
		const plain = { reference: `Patient/${value}` };
		return display === undefined ? plain : { ...plain, display };
	});
}

const resourceMembers: Members = {
	meta: element({}, { profile: list(uri, 2), security: list(coding, 2), tag: list(coding, 2) }),
	implicitRules: uri,
	language: codes('en', 'de-CH'),
	text: narrative,
	extension: list(extension),
	modifierExtension: list(extension, 1),
};

/** A resource's own members, those that all have, and at times a practitioner or device contained in it. */
function resource(type: GeneratedType, required: Members, optional: Members, choices: Arbitrary<JsonObject>[] = []): Arbitrary<JsonObject> {
	// An element gives up its id and extensions of its own: those of a resource are among its members.
	const members = element(required, { ...resourceMembers, ...optional }).map(({ id: _, ...rest }) => rest);
	return joined(fc.constant({ resourceType: type }), members, ...choices.map((choice) => fc.oneof(fc.constant({}), choice)));
}

/** A contained practitioner and, in `member`, the reference to it. */
function containedPractitioner(member: string, wrap: (reference: JsonObject) => Json): Arbitrary<JsonObject> {
	return fc
		.tuple(identity, humanName)
		.map(([id, name]) => ({ contained: [{ resourceType: 'Practitioner', id, name: [name] }], [member]: wrap({ reference: `#${id}` }) }));
}

function patient(): Arbitrary<JsonObject> {
	const contact = joined(
		element(
			{ name: humanName },
			{ relationship: list(codeableConcept, 2), telecom: list(contactPoint, 2), address, gender: codes('male', 'female'), period },
		),
		fc.oneof(fc.constant({}), fc.record({ organization: reference('Organization') })),
	);
	return resource(
		'Patient',
		{},
		{
			identifier: list(identifier),
			active: fc.boolean(),
			name: list(humanName),
			telecom: list(contactPoint),
			gender: codes('male', 'female', 'other', 'unknown'),
			birthDate: date,
			address: list(address, 2),
			maritalStatus: codeableConcept,
			photo: list(attachment, 1),
			contact: list(contact, 2),
			communication: list(element({ language: codeableConcept }, { preferred: fc.boolean() }), 2),
			managingOrganization: reference('Organization'),
			link: list(element({ other: reference('Patient', 'RelatedPerson'), type: codes('replaced-by', 'replaces', 'refer', 'seealso') }), 2),
		},
		[
			variants({ deceasedBoolean: fc.boolean() }, { deceasedDateTime: dateTime }),
			variants({ multipleBirthBoolean: fc.boolean() }, { multipleBirthInteger: fc.integer({ min: 1, max: 5 }) }),
			containedPractitioner('generalPractitioner', (to) => [to]),
		],
	);
}

function condition(options: GeneratorOptions): Arbitrary<JsonObject> {
	const clinical = `${terminology}/condition-clinical`;
	// Only what is over has an end (con-4).
	const course = fc.oneof(
		fc.record({ clinicalStatus: concept(clinical, 'active', 'recurrence', 'relapse') }),
		joined(fc.record({ clinicalStatus: concept(clinical, 'inactive', 'remission', 'resolved') }), when('abatement')),
	) as Arbitrary<JsonObject>;
	const members = resource(
		'Condition',
		{ subject: patientReference(options) },
		{
			identifier: list(identifier, 2),
			verificationStatus: concept(`${terminology}/condition-ver-status`, 'unconfirmed', 'provisional', 'confirmed'),
			category: list(concept(`${terminology}/condition-category`, 'problem-list-item', 'encounter-diagnosis'), 2),
			severity: codeableConcept,
			code: codeableConcept,
			bodySite: list(codeableConcept, 2),
			encounter: reference('Encounter'),
			recordedDate: dateTime,
			recorder: reference('Practitioner', 'Patient'),
			stage: list(element({ summary: codeableConcept }, { type: codeableConcept }), 2),
			evidence: list(element({ code: list(codeableConcept, 2) }, { detail: list(reference('Observation'), 2) }), 2),
			note: list(annotation, 2),
		},
		[when('onset'), containedPractitioner('asserter', (to) => to)],
	);
	return joined(members, course);
}

function when(name: 'onset' | 'abatement'): Arbitrary<JsonObject> {
	const forms = { DateTime: dateTime, Age: age, Period: period, Range: range, String: text };
	return variants(...Object.entries(forms).map(([form, value]) => ({ [`${name}${form}`]: value })));
}

function allergyIntolerance(options: GeneratorOptions): Arbitrary<JsonObject> {
	const reaction = element(
		{ manifestation: list(codeableConcept, 2) },
		{
			substance: codeableConcept,
			description: text,
			onset: dateTime,
			severity: codes('mild', 'moderate', 'severe'),
			note: list(annotation, 1),
		},
	);
	return resource(
		'AllergyIntolerance',
		{
			patient: patientReference(options),
			clinicalStatus: concept(`${terminology}/allergyintolerance-clinical`, 'active', 'inactive', 'resolved'),
		},
		{
			identifier: list(identifier, 2),
			verificationStatus: concept(`${terminology}/allergyintolerance-verification`, 'unconfirmed', 'confirmed', 'refuted'),
			type: codes('allergy', 'intolerance'),
			category: list(codes('food', 'medication', 'environment', 'biologic'), 3),
			criticality: codes('low', 'high', 'unable-to-assess'),
			code: codeableConcept,
			recordedDate: dateTime,
			lastOccurrence: dateTime,
			note: list(annotation, 2),
			reaction: list(reaction, 2),
		},
		[variants({ onsetDateTime: dateTime }, { onsetAge: age }, { onsetString: text }), containedPractitioner('recorder', (to) => to)],
	);
}

const observationValue = variants(
	{ valueQuantity: quantity },
	{ valueCodeableConcept: codeableConcept },
	{ valueString: text },
	{ valueBoolean: fc.boolean() },
	{ valueInteger: fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }) },
	{ valueRange: range },
	{ valueRatio: ratio },
	{ valueSampledData: sampledData },
	{ valueTime: time },
	{ valueDateTime: dateTime },
	{ valuePeriod: period },
	{ dataAbsentReason: codeableConcept },
);

function observation(options: GeneratorOptions): Arbitrary<JsonObject> {
	const referenceRange = element({ text }, { low: simpleQuantity, type: codeableConcept, appliesTo: list(codeableConcept, 1), age: range });
	// Codes of their own: no component may repeat that of the Observation when that has a value (obs-7).
	const component = joined(
		element({ code: concept('http://example.org/components', 'systolic', 'diastolic') }, { interpretation: list(codeableConcept, 1) }),
		observationValue,
	);
	return resource(
		'Observation',
		{
			status: codes('registered', 'preliminary', 'final', 'amended', 'corrected', 'cancelled', 'entered-in-error', 'unknown'),
			code: codeableConcept,
		},
		{
			identifier: list(identifier, 2),
			basedOn: list(reference('ServiceRequest', 'CarePlan'), 2),
			category: list(concept(`${terminology}/observation-category`, 'vital-signs', 'laboratory', 'imaging'), 2),
			subject: patientReference(options),
			focus: list(reference('Patient', 'Procedure'), 1),
			encounter: reference('Encounter'),
			issued: instant,
			interpretation: list(codeableConcept, 2),
			note: list(annotation, 2),
			bodySite: codeableConcept,
			method: codeableConcept,
			specimen: reference('Specimen'),
			device: reference('Device', 'DeviceMetric'),
			referenceRange: list(referenceRange, 2),
			hasMember: list(reference('Observation'), 2),
			component: list(component, 2),
		},
		[
			variants({ effectiveDateTime: dateTime }, { effectivePeriod: period }, { effectiveTiming: timing }, { effectiveInstant: instant }),
			observationValue,
			containedPractitioner('performer', (to) => [to, { display: 'Ward' }]),
		],
	);
}

function procedure(options: GeneratorOptions): Arbitrary<JsonObject> {
	return resource(
		'Procedure',
		{ status: codes('preparation', 'in-progress', 'completed', 'not-done', 'unknown'), subject: patientReference(options) },
		{
			identifier: list(identifier, 2),
			instantiatesUri: list(uri, 2),
			statusReason: codeableConcept,
			category: codeableConcept,
			code: codeableConcept,
			encounter: reference('Encounter'),
			location: reference('Location'),
			reasonCode: list(codeableConcept, 2),
			reasonReference: list(reference('Condition', 'Observation'), 2),
			bodySite: list(codeableConcept, 2),
			outcome: codeableConcept,
			report: list(reference('DiagnosticReport', 'DocumentReference'), 1),
			followUp: list(codeableConcept, 1),
			note: list(annotation, 2),
			focalDevice: list(element({ manipulated: reference('Device') }, { action: codeableConcept }), 1),
		},
		[
			variants(
				{ performedDateTime: dateTime },
				{ performedPeriod: period },
				{ performedString: text },
				{ performedAge: age },
				{ performedRange: range },
			),
			containedPractitioner('performer', (to) => [{ actor: to, function: { text: 'Surgeon' } }]),
		],
	);
}

function documentReference(options: GeneratorOptions): Arbitrary<JsonObject> {
	const context = element(
		{},
		{
			encounter: list(reference('Encounter'), 1),
			event: list(codeableConcept, 2),
			period,
			facilityType: codeableConcept,
			related: list(reference('ServiceRequest'), 2),
		},
	);
	return resource(
		'DocumentReference',
		{
			status: codes('current', 'superseded', 'entered-in-error'),
			content: list(element({ attachment }, { format: coding }), 2),
		},
		{
			masterIdentifier: identifier,
			identifier: list(identifier, 2),
			docStatus: codes('preliminary', 'final', 'amended', 'entered-in-error'),
			type: codeableConcept,
			category: list(codeableConcept, 2),
			subject: patientReference(options),
			date: instant,
			custodian: reference('Organization'),
			relatesTo: list(element({ code: codes('replaces', 'transforms', 'signs', 'appends'), target: reference('DocumentReference') }), 1),
			description: text,
			securityLabel: list(codeableConcept, 2),
			context,
		},
		[containedPractitioner('author', (to) => [to])],
	);
}

function diagnosticReport(options: GeneratorOptions): Arbitrary<JsonObject> {
	return resource(
		'DiagnosticReport',
		{
			status: codes('registered', 'partial', 'preliminary', 'final', 'amended', 'corrected', 'appended', 'cancelled'),
			code: codeableConcept,
		},
		{
			identifier: list(identifier, 2),
			basedOn: list(reference('ServiceRequest'), 1),
			category: list(codeableConcept, 2),
			subject: patientReference(options),
			encounter: reference('Encounter'),
			issued: instant,
			resultsInterpreter: list(reference('Practitioner', 'Organization'), 2),
			result: list(reference('Observation'), 2),
			imagingStudy: list(reference('ImagingStudy'), 2),
			media: list(element({ link: reference('Media') }, { comment: text }), 1),
			conclusion: text,
			conclusionCode: list(codeableConcept, 2),
			presentedForm: list(attachment, 2),
		},
		[variants({ effectiveDateTime: dateTime }, { effectivePeriod: period }), containedPractitioner('performer', (to) => [to])],
	);
}

function encounter(options: GeneratorOptions): Arbitrary<JsonObject> {
	const states = codes('planned', 'arrived', 'triaged', 'in-progress', 'onleave', 'finished', 'cancelled', 'entered-in-error', 'unknown');
	return resource(
		'Encounter',
		{ status: states, class: coding },
		{
			identifier: list(identifier, 2),
			statusHistory: list(element({ status: states, period }), 2),
			classHistory: list(element({ class: coding, period }), 1),
			type: list(codeableConcept, 2),
			serviceType: codeableConcept,
			priority: codeableConcept,
			subject: patientReference(options),
			appointment: list(reference('Appointment'), 1),
			period,
			length: fc.nat(500).map((minutes) => ({ value: minutes, unit: 'min', system: 'http://unitsofmeasure.org', code: 'min' })),
			reasonCode: list(codeableConcept, 2),
			diagnosis: list(
				element({ condition: reference('Condition', 'Procedure') }, { use: codeableConcept, rank: fc.integer({ min: 1, max: 9 }) }),
				2,
			),
			hospitalization: element({}, { preAdmissionIdentifier: identifier, admitSource: codeableConcept, reAdmission: codeableConcept }),
			location: list(
				element({ location: reference('Location') }, { status: codes('planned', 'active', 'reserved', 'completed'), period }),
				2,
			),
			serviceProvider: reference('Organization'),
			partOf: reference('Encounter'),
		},
		[containedPractitioner('participant', (to) => [{ individual: to, type: [{ text: 'attending' }] }])],
	);
}
