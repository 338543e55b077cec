import { membersOf } from './members.ts';
import type { Operation } from './operation.ts';

/**
 * The meanings of members of inputs whose schema does not tell them. An entry of one command (`client set.active`) or of one noun
 * (`report.text`) goes before the entry of the name alone. The help of the command line and the OpenAPI document show them.
 */
const meanings: Readonly<Record<string, string>> = {
	accession: 'the accession number',
	active: 'off: the sender is refused until it is turned on again',
	actor: 'who did it: an e-mail address, cli:<user>, or client:<id>',
	address: 'the IP address of the sender',
	ae: 'the AE title of the remote AE, or its id',
	ae_title: 'the AE title by which modalities and archives call the site',
	allowed_ips: 'an address or CIDR range that the sender may use; can be repeated',
	associations_max: 'the most DICOM associations that the site may have open at a time',
	author: 'who is responsible for the report',
	before: 'continue below this id, which is the last one of the page before',
	by: 'how it is told: by e-mail, or by a webhook',
	calling_ae: 'the AE title by which the sender calls',
	called_ae: 'the AE title that the sender calls',
	cause: 'the id of the cause, as the list of failures shows it',
	client: 'the id of an integration client',
	conclusion: "the report's conclusion",
	control_id: 'the control id of the message (MSH-10)',
	email: 'the e-mail address with which the user signs in',
	grants: 'what the sender may do besides sending; can be repeated',
	host: 'the host name or address of the remote AE',
	id: 'the id, as the list shows it',
	'mpps.id': 'the id of the procedure step, or its SOP Instance UID',
	keep: 'which of the two objects is used from now on',
	kind: 'the kind of entry',
	'messages.kind': 'the kind of message: hl7v2, hl7v3, cda and others',
	label: 'a name by which people recognise it',
	limit: 'the most entries to show',
	modality: 'the modality, such as CT',
	name: 'the name that people see',
	operation: 'what the preview is about',
	outcome: 'what became of the message; can be repeated',
	owner: 'the e-mail address of the user who answers for it',
	patient: "a patient's identifier",
	'study.patient': 'the id of the patient',
	pdf: 'the PDF file of the report',
	port: 'the port of the remote AE',
	remedy: 'the remedy, by the name that the explanation of the message gives',
	profile: 'the id, the URL (url|version) or the package (name#version) of the definition',
	protocols: 'a protocol by which the sender sends; can be repeated',
	role: 'what the person may do: auditor reads, manager also changes the site, administrator changes everything',
	sending_application: 'the sending application (MSH-3) that the messages must state',
	sending_facility: 'the sending facility (MSH-4) that the messages must state',
	since: 'from this time on: 2026-01-31, or 2026-01-31T10:00:00Z',
	site: 'the short name of the site (its slug)',
	sites: 'the short name of a site that the person may see; can be repeated',
	slug: 'the short name of the site: lower-case letters, digits and hyphens',
	state: 'how far the request has come',
	status: 'the status',
	'report.status': 'the status of the report',
	'mpps.status': 'the status of the procedure step',
	study: 'the Study Instance UID',
	surface: 'how the message came: mllp, hl7-http, fhir and others',
	text: 'the text of the report',
	'notification.to': 'the e-mail address, or the URL of the webhook',
	title: 'the title',
	'ae.title': 'the AE title of the remote AE',
	tls: 'the remote AE is called over TLS',
	to: 'the patient to whom the study is moved',
	type: 'the type of the message, such as ORU^R01',
	until: 'before this time: 2026-01-31, or 2026-01-31T10:00:00Z',
	waiting_max: 'the most messages of the site that may wait to be stored',
};

/** Returns what a member of an operation's input means; empty where nobody has said it. */
export function meaningOf({ name, input }: Pick<Operation, 'name' | 'input'>, member: string): string {
	const [noun = ''] = name.split(' ');
	const { description } = membersOf({ input }).find((each) => each.name === member) ?? {};
	return description ?? meanings[`${name}.${member}`] ?? meanings[`${noun}.${member}`] ?? meanings[member] ?? '';
}
