import type { JsonObject } from '#core/json.ts';
import type { Reference } from '#fhir/datatypes.ts';
import type { Context } from '#hl7v3/context.ts';
import { codeableConcept, codeableConcepts } from '#hl7v3/datatypes/cd.ts';
import { uncheckedIdentifier } from '#hl7v3/datatypes/ii.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import { confidentialitySystem } from '#hl7v3/patient.ts';
import { applyPatch } from '#record/apply/patch.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { Identifier } from '#record/resource-patch.ts';
import { assigned, organizationReference } from './participant.ts';
import { signatureOf, signer } from './signature.ts';
import { type DocumentTime, extent } from './times.ts';

/** Facts about a document beside its patient. */
interface Header {
	identifier: Identifier;
	time: DocumentTime;
	title: string;
	/** DocumentReference.content. */
	content: JsonObject[];
	/** The patient as the document states them. */
	patient: PatientChange;
}

/** US Core: what kind of document a clinical document is, whatever its type. */
const clinicalNote = {
	coding: [
		{
			system: 'http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category',
			code: 'clinical-note',
			display: 'Clinical Note',
		},
	],
};

/** The header of a document (CDA R2 §4.2) as DocumentReference, save what depends on what is known: see DocumentChange. */
export function documentReference(document: XmlElement, header: Header, context: Context): JsonObject {
	const { identifier, time, title, content, patient } = header;
	const code = document.first('code');
	const type = code && codeableConcept(code);
	const set = document.first('setId');
	const setId = set && uncheckedIdentifier(set, context);
	const labels = codeableConcepts(document.children('confidentialityCode'), confidentialitySystem);
	const authors = references(document.all('author', 'assignedAuthor'), context);
	const authenticator = assigned(signer(document)?.first('assignedEntity'), context);
	const custodian = document.first('custodian', 'assignedCustodian', 'representedCustodianOrganization');
	return {
		contained: [sourcePatient(patient)],
		masterIdentifier: identifier,
		...(setId === undefined ? {} : { identifier: [setId] }),
		...docStatus(document, context),
		...(type === undefined ? {} : { type }),
		category: [clinicalNote],
		...(time.instant === undefined ? {} : { date: time.instant }),
		...(authors.length === 0 ? {} : { author: authors }),
		...optional('authenticator', authenticator),
		...optional('custodian', organizationReference(custodian, context)),
		...(title === '' ? {} : { description: title }),
		...(labels.length === 0 ? {} : { securityLabel: labels }),
		content,
		context: circumstances(document, context),
	};
}

/** CDA R2 states that a document is signed, or is to be, and no status beside it. */
function docStatus(document: XmlElement, context: Context): JsonObject {
	const legal = document.first('legalAuthenticator');
	const signature = signatureOf(legal);
	if (signature === undefined || legal === undefined) return {};
	if (signature === 'signed') return { docStatus: 'final' };
	if (signature === 'awaited') return { docStatus: 'preliminary' };
	context.unreadable(legal, 'does not say whether it has signed; the document has no docStatus');
	return {};
}

function optional(name: string, value: Reference | undefined): JsonObject {
	return value === undefined ? {} : { [name]: value };
}

function references(roles: readonly XmlElement[], context: Context): Reference[] {
	return roles.map((role) => assigned(role, context)).filter((found) => found !== undefined);
}

const sourcePatientId = 'patient';

/** The patient as the document has it, which stays so when the patient changes. */
function sourcePatient({ patch }: PatientChange): JsonObject {
	const patient: JsonObject = { resourceType: 'Patient', id: sourcePatientId };
	applyPatch(patient, patch);
	return patient;
}

function circumstances(document: XmlElement, context: Context): JsonObject {
	const services = document.all('documentationOf', 'serviceEvent');
	const encounter = document.first('componentOf', 'encompassingEncounter');
	const event = codeableConcepts(services.flatMap((service) => service.children('code')));
	const period = services.map((service) => extent(service.first('effectiveTime'), context)).find((found) => found !== undefined);
	const during = period ?? extent(encounter?.first('effectiveTime'), context);
	const facility = encounter?.first('location', 'healthCareFacility', 'code');
	const facilityType = facility && codeableConcept(facility);
	return {
		...(event.length === 0 ? {} : { event }),
		...(during === undefined ? {} : { period: during }),
		...(facilityType === undefined ? {} : { facilityType }),
		sourcePatientInfo: { reference: `#${sourcePatientId}` },
	};
}
