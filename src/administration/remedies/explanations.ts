import { type FailureCode, type FailureLocation, failureCodes } from '#core/failure.ts';
import type { DeliveryKind } from '#record/delivery.ts';
import { hl7v2Names } from '../reading/hl7v2-names.ts';
import { placeName } from './fault.ts';

/** The standards whose messages the log keeps. Edits by people are judged by rules of this service. */
export type Standard = 'hl7v2' | 'hl7v3' | 'fhir' | 'dicom' | 'own';

const standards: Readonly<Record<DeliveryKind, Standard>> = {
	hl7v2: 'hl7v2',
	hl7v3: 'hl7v3',
	fhir: 'fhir',
	mpps: 'dicom',
	instance: 'dicom',
	report: 'own',
	conflict: 'own',
	identity: 'own',
	rederivation: 'own',
};

export function standardOf(kind: DeliveryKind | null): Standard {
	return kind === null ? 'own' : standards[kind];
}

/** A rule of a standard or of this service, with its section. */
interface Demand {
	asks: string;
	section: string;
}

interface Explanation {
	/** Says in one sentence what is wrong. */
	wrong: string;
	/** The rule for every format. */
	asks: string;
	/** The rules of standards that say more. */
	by?: { readonly [S in Standard]?: Partial<Demand> };
}

/** One row for each failure code. */
export const explanations: Readonly<Record<FailureCode, Explanation>> = {
	'not-hl7': {
		wrong: 'the content is not a message of this format',
		asks: 'the content follows the syntax of its format from the first byte',
		by: {
			hl7v2: { asks: 'a message begins with MSH, then the field separator and the encoding characters', section: '§2.5 and §2.15.9' },
			hl7v3: { asks: 'the content is well-formed XML, whose root is an interaction or a ClinicalDocument', section: 'XML ITS' },
		},
	},
	'segment-sequence': {
		wrong: 'a segment is missing, or stands where it does not belong',
		asks: 'the parts of a message stand in the order of its structure',
		by: { hl7v2: { asks: 'the segments stand in the order of the abstract message syntax of the event', section: '§2.12' } },
	},
	'required-field-missing': {
		wrong: 'a value that the message needs is missing',
		asks: 'what is required is there, and is not empty',
		by: {
			hl7v2: { asks: 'a required field (R) has a value', section: '§2.5.3.4' },
			hl7v3: { asks: 'a mandatory element has a value', section: 'Refinement, conformance' },
			dicom: { asks: 'an attribute of type 1 is there and has a value', section: 'PS3.5 §7.4.1' },
			fhir: { asks: 'an element with the cardinality 1.. is there', section: 'Conformance Rules, Cardinality' },
		},
	},
	'data-type': {
		wrong: 'a value does not have the form of its data type',
		asks: 'a value has the form of its data type',
		by: { hl7v2: { asks: 'a field has the form of its data type', section: 'chapter 2A' } },
	},
	'table-value': {
		wrong: 'a code is not in the table of its field',
		asks: 'a coded value is in the table of its field',
		by: { hl7v2: { asks: 'a field of type ID has a code of its HL7 table', section: '§2.5.3.6' } },
	},
	'value-too-long': {
		wrong: 'a value is longer than this service can keep',
		asks: 'the value fits; the text of the failure says how long it may be',
		by: { hl7v2: { section: '§2.5.3.2' }, fhir: { section: 'Data Types, Primitive Types' } },
	},
	'unsupported-message-type': {
		wrong: 'messages of this type are not read here',
		asks: 'the type is one that this service reads; a type that nobody needs can be ignored for its sender',
		by: { hl7v2: { section: '§2.15.9.9 (MSH-9, table 0076)' } },
	},
	'unsupported-event': {
		wrong: 'this event is not accepted from this sender',
		asks: 'the event is one that this service reads; some are read only for senders who are set up for them',
		by: { hl7v2: { section: '§2.15.9.9 (MSH-9, table 0003)' } },
	},
	'unsupported-processing-id': {
		wrong: 'the message is not for production, and only such messages are accepted from this sender',
		asks: 'the receiver checks that it accepts the processing id',
		by: {
			hl7v2: { section: '§2.9.2 and §2.15.9.11 (MSH-11, table 0103)' },
			hl7v3: { section: 'MCCI_MT000100UV01 (processingCode)' },
		},
	},
	'unsupported-version': {
		wrong: 'the message names a version that is not supported',
		asks: 'the version is one that this service reads',
		by: { hl7v2: { asks: 'MSH-12 names a version 2 of HL7', section: '§2.15.9.12 (MSH-12, table 0104)' } },
	},
	'unknown-key': {
		wrong: 'the message refers to something that is not in the record',
		asks: 'what a message refers to is known before it, or the message that states it comes first',
		by: { fhir: { section: 'Resource References' } },
	},
	'ambiguous-key': {
		wrong: 'the message names a patient by a number that more than one patient has',
		asks: 'an identifier leads to one patient: it names its assigning authority, or the patients with the number are told apart',
		by: { hl7v2: { section: '§3.4.2.3 (PID-3) and chapter 2A (CX)' }, dicom: { section: 'PS3.3 §C.2.2 (Issuer of Patient ID)' } },
	},
	'key-conflict': {
		wrong: 'the identifiers of the message contradict what the record knows',
		asks: 'all identifiers of one message lead to the same patient, visit or order',
		by: { hl7v2: { section: '§3.4.2.3 (PID-3)' } },
	},
	'business-rule': {
		wrong: 'the message asks for something that a rule of the record forbids',
		asks: 'the content keeps the rules of its resource',
		by: { fhir: { section: 'Conformance Rules, Constraints' } },
	},
	'sender-not-authorized': {
		wrong: 'the sender may not do this',
		asks: 'the address, MSH-3, MSH-4 or AE title of the sender are those of an integration client that has the grant',
		by: { hl7v2: { section: '§2.15.9.3 and §2.15.9.4 (MSH-3, MSH-4)' }, dicom: { section: 'PS3.8 §9.3.2 (calling AE title)' } },
	},
	'insufficient-scope': {
		wrong: 'the key or token does not permit this',
		asks: 'the key or token has the scope that the request needs',
		by: { fhir: { section: 'SMART App Launch, scopes' } },
	},
	unauthenticated: {
		wrong: 'the key or token is not known here',
		asks: 'a request carries a key or token that is valid',
		by: { fhir: { section: 'RESTful API, Security' } },
	},
	invalid: {
		wrong: 'the request does not have the right form',
		asks: 'the request has the form of its interaction',
		by: { fhir: { section: 'RESTful API' }, hl7v3: { section: 'XML ITS' }, dicom: { section: 'PS3.5 §7' } },
	},
	'invalid-resource': {
		wrong: 'the resource does not conform to its definition, or to a profile that it claims',
		asks: 'every element has the name, the type and the cardinality of its definition',
		by: { fhir: { section: 'Validating Resources' } },
	},
	'several-matches': {
		wrong: 'a condition matches more than one resource',
		asks: 'a condition matches one resource at most',
		by: { fhir: { section: 'RESTful API, conditional interactions' } },
	},
	'not-supported': {
		wrong: 'the request asks for something that is not offered',
		asks: 'the capability statement says what is offered',
		by: { fhir: { section: 'RESTful API, capabilities' } },
	},
	'not-found': {
		wrong: 'the message refers to something that does not exist at this site',
		asks: 'what a message refers to exists at the site',
		by: { fhir: { section: 'Resource References' }, dicom: { section: 'PS3.7 Annex C (status 0112H)' } },
	},
	gone: {
		wrong: 'the message refers to something that was deleted or merged',
		asks: 'what a message refers to exists at the site now',
		by: { fhir: { section: 'RESTful API, delete' } },
	},
	'unsupported-resource-type': {
		wrong: 'resources of this type are not kept here',
		asks: 'the type is one of the capability statement',
		by: { fhir: { section: 'RESTful API, capabilities' } },
	},
	'method-not-allowed': {
		wrong: 'this may not be done with resources of this type, or not at this site',
		asks: 'the capability statement says which interactions a type has; settings of the site permit some',
		by: { fhir: { section: 'RESTful API, HTTP Status Codes (405)' } },
	},
	'not-acceptable': {
		wrong: 'the answer was asked for in a form that is not offered',
		asks: 'the form that is asked for is one that is offered',
		by: { fhir: { section: 'RESTful API, Content Types and encodings' } },
	},
	conflict: {
		wrong: 'the message contradicts what is stored',
		asks: 'the message agrees with what is stored, or is based on the newest version of it',
		by: {
			fhir: { section: 'RESTful API, Managing Resource Contention' },
			dicom: { asks: 'a SOP Instance UID stands for one object', section: 'PS3.7 Annex C (status 0111H)' },
		},
	},
	'precondition-failed': {
		wrong: 'a condition of the request does not hold',
		asks: 'If-Match names the newest version, and a condition matches as it says',
		by: { fhir: { section: 'RESTful API, Managing Resource Contention' } },
	},
	'too-large': {
		wrong: 'the message is larger than the limit',
		asks: 'a message stays below the limit; the text of the failure names it',
	},
	'head-too-large': { wrong: 'the head of the request is larger than the limit', asks: 'the head of a request stays below the limit' },
	'timed-out': { wrong: 'the request did not arrive completely in time', asks: 'a request arrives completely within the time limit' },
	'unsupported-media-type': {
		wrong: 'the content has a media type or an encoding that is not read',
		asks: 'Content-Type names a form that is read',
		by: { fhir: { section: 'RESTful API, Content Types and encodings' } },
	},
	misdirected: {
		wrong: 'the request names the service by a name that is not one of its own',
		asks: 'the Host header has localhost, an IP address, or a name of OPERATOR_HOSTS',
	},
	'too-costly': {
		wrong: 'the message takes more processor time than a message may take',
		asks: 'a message stays within its share; the sender divides it, or MESSAGE_CPU_MS_MAX is raised',
	},
	unprocessable: {
		wrong: 'the content is well-formed, but its values make no sense',
		asks: 'the values of the content fit each other',
		by: { fhir: { section: 'RESTful API, HTTP Status Codes (422)' }, dicom: { section: 'PS3.7 Annex C (status 0106H)' } },
	},
	'too-many-requests': { wrong: 'the sender made more requests than its share', asks: 'a sender waits as long as Retry-After says' },
	internal: {
		wrong: 'the service could not process or store the message, although it may be right',
		asks: 'nothing is asked of the sender; the log of the service has the cause under the id of the message',
	},
	unavailable: { wrong: 'the service could not store at that moment', asks: 'nothing is asked of the sender; a replay corrects it' },
};

/** The section of each standard about the answer to a fault, for codes without a section of their own. */
const answers: Readonly<Record<Standard, (code: FailureCode) => string>> = {
	hl7v2: (code) => `§2.15.5.3 (ERR-3, table 0357: ${failureCodes[code].hl7})`,
	hl7v3: () => 'MCCI, acknowledgement detail',
	fhir: (code) => `OperationOutcome (issue type ${failureCodes[code].issue})`,
	dicom: () => 'PS3.7 Annex C (status)',
	own: () => 'docs/administration.md',
};

const names: Readonly<Record<Standard, string>> = {
	hl7v2: 'HL7 v2.5.1',
	hl7v3: 'HL7 v3',
	fhir: 'FHIR R4',
	dicom: 'DICOM',
	own: 'Tributary',
};

/** Sections of HL7 v2.5.1 that define the segments. */
const segmentSections: Readonly<Record<string, string>> = {
	MSH: '§2.15.9',
	EVN: '§3.4.1',
	PID: '§3.4.2',
	PV1: '§3.4.3',
	PV2: '§3.4.4',
	NK1: '§3.4.5',
	AL1: '§3.4.6',
	MRG: '§3.4.9',
	ORC: '§4.5.1',
	OBR: '§4.5.3',
	DG1: '§6.5.2',
	PR1: '§6.5.4',
	OBX: '§7.4.2',
	SPM: '§7.4.3',
	TXA: '§9.6.1',
	ROL: '§15.4.7',
};

export interface Explained {
	/** Says what is wrong, with the place. */
	wrong: string;
	asks: string;
	/** The standard and its section. */
	section: string;
}

/** Says in plain words what is wrong with a message, and what its standard asks for. It repeats nothing of the message. */
export function explain(code: FailureCode, standard: Standard, location?: FailureLocation): Explained {
	const { wrong, asks, by } = explanations[code];
	const demand = by?.[standard];
	const place = location === undefined ? '' : placeName(location);
	const ofField = location === undefined || standard !== 'hl7v2' ? undefined : fieldDemand(code, location);
	const section = ofField?.section ?? demand?.section ?? answers[standard](code);
	return {
		wrong: `${place === '' ? '' : `${place}: `}${place === '' ? capital(wrong) : wrong}.`,
		asks: `${capital(ofField?.asks ?? demand?.asks ?? asks)}.`,
		section: `${names[standard]} ${section}`,
	};
}

/** A field of a known segment has a section, a data type and perhaps a table of its own. */
function fieldDemand(code: FailureCode, { segment = '', field }: FailureLocation): Demand | undefined {
	const section = segmentSections[segment];
	const known = field === undefined ? undefined : hl7v2Names().field(segment, field);
	if (section === undefined || known === undefined || field === undefined || segment === 'MSH') return undefined;
	const where = `${section}.${field}`;
	const name = `${segment}-${field}`;
	if (code === 'required-field-missing') return { asks: `${name} has a value of the data type ${known.datatype}`, section: where };
	if (code === 'data-type') return { asks: `${name} has the form of the data type ${known.datatype}`, section: where };
	if (code === 'table-value' && known.table !== undefined) {
		return { asks: `${name} has a code of the HL7 table ${String(known.table).padStart(4, '0')}`, section: where };
	}
	return undefined;
}

function capital(text: string): string {
	return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export function isFailureCode(text: string | null): text is FailureCode {
	return text !== null && Object.hasOwn(failureCodes, text);
}
