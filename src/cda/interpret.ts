import { Failure } from '#core/failure.ts';
import { isOid } from '#fhir/mapping/authority.ts';
import { messageZone, type Reading, readIn } from '#fhir/mapping/local-zone.ts';
import { mentionsOf } from '#fhir/mapping/mentions.ts';
import { zoneOf } from '#fhir/mapping/timestamp.ts';
import { Context, documentFlagsMax, failureAt } from '#hl7v3/context.ts';
import { identifier } from '#hl7v3/datatypes/ii.ts';
import { valueIn } from '#hl7v3/datatypes/ts.ts';
import type { XmlElement } from '#hl7v3/element.ts';
import { requireMessageId } from '#hl7v3/header.ts';
import type { Received } from '#hl7v3/interpret.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { DocumentEntry } from '#record/document.ts';
import type { DocumentChange } from '#record/kinds/document/change.ts';
import type { Change } from '#record/kinds/index.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import { type DocumentContent, embeddedFile, wholeDocument } from './content.ts';
import { documentReference } from './document-reference.ts';
import { encounterChange } from './encounter.ts';
import { cutOut } from './enveloped.ts';
import type { DocumentLimits } from './limits.ts';
import { patientChange } from './patient.ts';
import { accessionNumber, keyOf, relationsOf, setOf } from './relations.ts';
import { documentTime } from './times.ts';

/** The content of the document's sections. */
export type ReadEntries = (document: XmlElement, context: Context) => DocumentEntry[];

export interface DocumentSettings extends Reading {
	limits: Pick<DocumentLimits, 'documentPatientsMax'>;
	readEntries: ReadEntries;
}

export function isDocument({ message }: Received): boolean {
	return message?.name === 'ClinicalDocument';
}

/**
 * Turns a ClinicalDocument (CDA R2) into changes to its site's record: the patient, the visit, the document and the content of its
 * sections. It is pure: the same document gives the same change-set. `bytes` are those of the request.
 * @throws Failure when this is no CDA R2 document, or when the document or its patient has no id
 */
export function interpretDocument(received: Received, bytes: Uint8Array, settings: DocumentSettings): ChangeSet {
	const { message: document, header, failure } = received;
	if (failure) throw failure;
	if (document === undefined) throw new Error('a body without a message has a failure');
	requireReleaseTwo(document);
	requireMessageId(document, header);
	const zone = messageZone(zoneOf(valueIn(document.first('effectiveTime')) ?? ''), settings);
	const context = new Context(settings.settings.default_authority, zone, documentFlagsMax, mentionsOf(settings.settings));
	const patients = patientsOf(document, settings, context);
	const changes: Change[] = [...patients];
	const encounter = patients.length === 1 ? encounterChange(document, 0, context) : undefined;
	if (encounter) changes.push(encounter);
	changes.push(...documentChanges(document, patients, received.envelope ? (cutOut(bytes) ?? bytes) : bytes, settings, context));
	const mentioned = context.mentions?.changes() ?? [];
	return readIn(zone, settings.settings, { changes: [...mentioned, ...changes], flags: context.flags });
}

/** The typeId of CDA R2 (§4.2.2, InfrastructureRoot.typeId); senders that leave it out mean it. */
const typeId = { root: '2.16.840.1.113883.1.3', extension: 'POCD_HD000040' };

function requireReleaseTwo(document: XmlElement): void {
	const stated = document.first('typeId');
	if (stated === undefined || stated.isNull) return;
	if (stated.attribute('root') === typeId.root && stated.attribute('extension') === typeId.extension) return;
	throw failureAt('unsupported-message-type', stated, `the document is not of CDA R2: its typeId is not ${typeId.extension}`);
}

/** One for each recordTarget. */
function patientsOf(document: XmlElement, { limits }: DocumentSettings, context: Context): [PatientChange, ...PatientChange[]] {
	const roles = document.all('recordTarget', 'patientRole');
	if (roles.length > limits.documentPatientsMax) {
		throw failureAt('business-rule', document, `the document is about more than ${limits.documentPatientsMax} patients`);
	}
	const [first, ...others] = roles.map((role, ref) => patientChange(role, ref, context));
	if (first === undefined)
		throw failureAt('segment-sequence', document, 'recordTarget/patientRole is missing: the document has no patient');
	return [first, ...others];
}

function documentChanges(
	document: XmlElement,
	patients: readonly PatientChange[],
	bytes: Uint8Array,
	{ readEntries }: DocumentSettings,
	context: Context,
): DocumentChange[] {
	const id = document.first('id');
	const masterIdentifier = id && identifier(id, context);
	if (id === undefined || masterIdentifier === undefined) throw new Failure('required-field-missing', 'the document has no id');
	const time = documentTime(document.first('effectiveTime'), context);
	const title = document.first('title')?.text ?? '';
	const contents = [wholeDocument(document, bytes, time, title), embeddedFile(document, context)].filter((found) => found !== undefined);
	const set = setOf(document, context);
	const shared = {
		kind: 'document' as const,
		key: keyOf(masterIdentifier),
		...(set === undefined ? {} : { set }),
		statedAt: time.order,
		relations: relationsOf(document, context),
		bytes: contents.map((content: DocumentContent) => content.bytes),
		isShared: patients.length > 1,
		entries: entriesOf(document, patients.length > 1, readEntries, context),
		study: studyNames(document),
		expression: id.path,
	};
	const content = contents.map((one) => one.content);
	return patients.map((patient) => ({
		...shared,
		patient: patient.ref,
		...(patients.length === 1 ? { encounter: 0 } : {}),
		resource: documentReference(document, { identifier: masterIdentifier, time, title, content, patient }, context),
	}));
}

/** A document about several patients does not say to whom an entry belongs. */
function entriesOf(document: XmlElement, isShared: boolean, readEntries: ReadEntries, context: Context): DocumentEntry[] {
	if (!isShared) return readEntries(document, context);
	const body = document.first('component', 'structuredBody');
	if (body) context.skipped(body, 'the document is about several patients, and its entries do not say of whom they are');
	return [];
}

/** The code of the section DICOM Object Catalog (DICOM PS3.20 §9.8.1). The root of the id of its act is the Study Instance UID. */
const objectCatalog = '121181';

/** Returns the study of the object catalog, else the accession number of the order that the document fulfils (CDA R2 §4.2.3.3). */
function studyNames(document: XmlElement): DocumentChange['study'] {
	const catalogs = document
		.all('component', 'structuredBody', 'component', 'section')
		.filter((section) => section.first('code')?.attribute('code') === objectCatalog);
	const uid = catalogs.flatMap((catalog) => catalog.all('entry', 'act', 'id')).find((id) => isOid(id.attribute('root')));
	return { uid: uid?.attribute('root'), accession: accessionNumber(document), filler: undefined };
}
