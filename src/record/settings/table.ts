import { isTimeZone } from '#core/time-zone.ts';
import type { SettingDefinition } from './definition.ts';

const event = /^[A-Z]\d\d$/;
const eventOrType = /^(?:[A-Z\d]{3}\^)?[A-Z]\d\d$/;

/** The names of HL7 table 0211 that can be read, and the set that senders of Windows write without naming it. */
const charsets: ReadonlySet<string> = new Set([
	...['ASCII', '8859/1', '8859/2', '8859/3', '8859/4', '8859/5', '8859/6', '8859/7', '8859/8', '8859/15', 'ISO IR6', 'ISO IR14'],
	...['ISO IR87', 'ISO IR159', 'GB 18030-2000', 'KS X 1001', 'BIG-5', 'UNICODE UTF-8', 'windows-1252'],
]);

/**
 * A charset of Content-Type is the setting `charset` of the one message that came with it. It is kept in capitals, as no setting of a sender
 * is written: so whoever reads the message log tells the two apart.
 */
const contentCharset = /^(?:UTF-8|US-ASCII|ISO-8859-\d{1,2}|WINDOWS-125\d)$/;

export function isContentCharset(value: unknown): value is string {
	return typeof value === 'string' && contentCharset.test(value);
}

/** Tells whether the text is an origin as browsers write it (RFC 6454 §6.1): without a path, and without the port that the scheme implies. */
function isOrigin(text: string): boolean {
	return (
		/^[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/.test(text) && !/^(?:http:.*:80|https:.*:443)$/.test(text)
	);
}

/** A time in days for which a site keeps something. `variable` says it for the sites that do not. */
const keptDays = <const Variable extends string>(label: string, what: string, variable: Variable) =>
	({
		label,
		meaning: `the number of days after which ${what}; 0 keeps it for ever`,
		topic: 'retention',
		of: ['site'],
		kind: 'text',
		placeholder: '3650',
		fault: (text: string) => (/^(?:0|[1-9]\d{0,4})$/.test(text) ? undefined : 'days are a whole number from 0 to 99999; 0 is for ever'),
		variable,
		otherwise: `what ${variable} says`,
	}) as const;

function viewerFault(text: string): string | undefined {
	if (!text.includes('{study}')) return 'the address of a viewer has {study} where the Study Instance UID goes';
	const scheme = URL.canParse(text) ? new URL(text).protocol : undefined;
	return scheme === 'https:' || scheme === 'http:' ? undefined : 'the address of a viewer begins with https:// or http://';
}

/**
 * The settings of sites and senders, one row each. The options of the command line, the fields of the admin API, the forms of the console
 * and docs/settings.md are made from it.
 */
export const settingDefinitions = {
	default_authority: {
		label: 'Assigning authority',
		meaning: 'the identifier system for patient identifiers that arrive without an assigning authority, as a URI',
		topic: 'identity',
		of: ['site', 'client', 'key'],
		kind: 'text',
		placeholder: 'urn:oid:1.2.3',
		fault: (text) => (/^\S+:\S+$/.test(text) ? undefined : 'an assigning authority is a URI, such as urn:oid:1.2.3'),
		otherwise: 'such identifiers have no system',
	},
	mismatch: {
		label: 'Another person under a known number',
		meaning: 'what becomes of a message under a known number whose name, birth date or sex differ from the record',
		topic: 'identity',
		of: ['site', 'client', 'key'],
		kind: 'choice',
		choices: {
			flag: 'Flag: it is applied, flagged and listed.',
			hold: 'Hold: it is acknowledged and listed, and applied when a person accepts it. An image is stored without a patient, and a procedure step settles no study.',
			accept: 'Accept: it is applied like any other.',
		},
		default: 'flag',
	},
	people_and_places: {
		label: 'People and places of messages',
		meaning:
			'how HL7 v2 messages and clinical documents refer to practitioners, organizations, locations and orders that they name by an identifier',
		topic: 'identity',
		of: ['site', 'client', 'key'],
		kind: 'choice',
		choices: {
			display: 'Display: by identifier and name alone. No resource is looked for.',
			known: 'Known: to the resource that has the identifier, if there is one. None is made.',
			resources: 'Resources: to the resource that has the identifier. If there is none, the message makes it.',
		},
		default: 'display',
	},
	time_zone: {
		label: 'Time zone',
		meaning: 'the zone of times that arrive without an offset, by its IANA name',
		topic: 'time',
		of: ['site', 'client', 'key'],
		kind: 'text',
		placeholder: 'Europe/Berlin',
		fault: (text) => (isTimeZone(text) ? undefined : 'a time zone has an IANA name, such as Europe/Berlin or UTC'),
		otherwise: 'the zone of the host is assumed, and messages with such times are flagged',
	},
	processing_ids: {
		label: 'Processing ids',
		meaning:
			'the processing ids (MSH-11, processingCode) whose HL7 v2 and v3 messages are taken; P stands for an empty one too, T is training, D is debugging',
		topic: 'hl7v2',
		of: ['site', 'client', 'key'],
		kind: 'list',
		placeholder: 'P,T',
		fault: (text) => (/^[A-Z]$/.test(text) ? undefined : 'a processing id is P, T or D (HL7 table 0103)'),
		default: ['P'],
	},
	charset: {
		label: 'Character set',
		meaning: 'the character set in which HL7 v2 messages are read, whatever MSH-18 says; a name of HL7 table 0211, further sets behind ~',
		topic: 'hl7v2',
		of: ['site', 'client', 'key'],
		kind: 'text',
		placeholder: '8859/1',
		fault: (text) => (text.split('~').every((name) => charsets.has(name)) ? undefined : `a character set is ${[...charsets].join(', ')}`),
		otherwise: 'MSH-18 says it',
	},
	ack_mode: {
		label: 'Acknowledgement',
		meaning: 'the acknowledgement mode of HL7 v2',
		topic: 'hl7v2',
		of: ['client'],
		kind: 'choice',
		choices: {
			original: 'Original mode: always AA or AE. Right for most senders.',
			enhanced:
				'Enhanced mode: CA, then AA or AE, as MSH-15 and MSH-16 ask. A refused message is CA, then AE; CE only where MSH-16 wants no AE.',
		},
		default: 'original',
	},
	also: {
		label: 'Additional events',
		meaning: 'HL7 v2 events that are accepted beside those that always are',
		topic: 'hl7v2',
		of: ['site', 'client', 'key'],
		kind: 'list',
		placeholder: 'A03,A11',
		fault: (text) => (event.test(text) ? undefined : 'an event is a letter and two digits, such as A03'),
		default: [],
	},
	ignore: {
		label: 'Events to ignore',
		meaning: 'HL7 v2 events (A60) and message types (ORM^O01) that are answered AA and logged, but change nothing',
		topic: 'hl7v2',
		of: ['site', 'client', 'key'],
		kind: 'list',
		placeholder: 'A60,ORM^O01',
		fault: (text) => (eventOrType.test(text) ? undefined : 'an event is a letter and two digits, such as A60, or a type with it: ORM^O01'),
		default: [],
	},
	results: {
		label: 'Results that cannot be read',
		meaning: 'what becomes of an HL7 v2 message with results of which some cannot be read',
		topic: 'hl7v2',
		of: ['site', 'client', 'key'],
		kind: 'choice',
		choices: {
			all: 'All or none: one such result refuses the message.',
			partial: 'The others: they are stored, and the answer AA names each one that was left out. The message is flagged.',
		},
		default: 'all',
	},
	report_writes: {
		label: 'Clients write reports and studies',
		meaning:
			'FHIR clients and imports may write the resources DiagnosticReport and ImagingStudy; they stand beside the reports and studies that the service makes itself',
		topic: 'fhir',
		of: ['site'],
		kind: 'switch',
		default: false,
	},
	update_creates: {
		label: 'Create on update',
		meaning: 'a PUT to an unused id creates the resource with that id',
		topic: 'fhir',
		of: ['site'],
		kind: 'switch',
		default: true,
	},
	if_match: {
		label: 'Version in updates',
		meaning: 'whether a FHIR PUT, PATCH or DELETE of an existing resource has to name the version that it is based on, in If-Match',
		topic: 'fhir',
		of: ['site'],
		kind: 'choice',
		choices: {
			optional: 'Optional: without it the last write counts.',
			required: 'Required: without it the answer is 412.',
		},
		default: 'optional',
	},
	deletes: {
		label: 'Clients delete resources',
		meaning:
			'FHIR clients may delete resources of the types that the service does not write itself; their versions are kept, and an update brings them back',
		topic: 'fhir',
		of: ['site'],
		kind: 'switch',
		default: false,
	},
	check_references: {
		label: 'References to patients must resolve',
		meaning: 'FHIR writes may refer only to patients that exist',
		topic: 'fhir',
		of: ['site'],
		kind: 'switch',
		default: true,
	},
	merged_references: {
		label: 'References to a merged patient',
		meaning: 'what becomes of a FHIR write that refers to a patient whom a merge has replaced',
		topic: 'fhir',
		of: ['site'],
		kind: 'choice',
		choices: {
			follow: 'Follow: the reference means the survivor.',
			refuse: 'Refuse: the client gets 409, which names the survivor.',
		},
		default: 'follow',
	},
	profiles: {
		label: 'Profiles that a resource claims',
		meaning: 'what becomes of a FHIR write whose resource does not conform to a profile that it claims in meta.profile and that is known',
		topic: 'fhir',
		of: ['site'],
		kind: 'choice',
		choices: {
			off: 'Off: profiles are not checked.',
			warn: 'Warn: it is stored. The client is told with Prefer: return=OperationOutcome, and the write is flagged.',
			enforce: 'Enforce: the client gets 422, with every fault.',
		},
		default: 'warn',
	},
	cors_origins: {
		label: 'Web pages that may call',
		meaning: 'the origins (scheme, host and port) whose web pages may call FHIR and DICOMweb with a key of the site; * is every origin',
		topic: 'fhir',
		of: ['site'],
		kind: 'list',
		placeholder: 'https://viewer.example.org',
		fault: (text) =>
			text === '*' || isOrigin(text) ? undefined : 'an origin is scheme, host and port in lower case: https://viewer.example.org',
		default: [],
	},
	viewer_url: {
		label: 'Image viewer',
		meaning:
			'the address at which an image viewer of the site (OHIF, for one) opens a study; {study} stands for its Study Instance UID, {token} for a token that lets the viewer read this study by DICOMweb for a time. List the origin of the viewer in cors_origins',
		topic: 'images',
		of: ['site'],
		kind: 'text',
		placeholder: 'https://viewer.example.org/viewer?StudyInstanceUIDs={study}&token={token}',
		fault: viewerFault,
		otherwise: 'studies open in the console alone',
	},
	uids: {
		label: 'UIDs of images and procedure steps',
		meaning: 'whether images and procedure steps are taken whose UIDs have components with leading zeros, which DICOM forbids',
		topic: 'images',
		of: ['site', 'client', 'key'],
		kind: 'choice',
		choices: {
			strict: 'Strict: they are refused.',
			lenient: 'Lenient: such a UID is taken as it is sent. Right for old devices that send them.',
		},
		default: 'strict',
	},
	instance_policy: {
		label: 'Different content under a known SOP Instance UID',
		meaning: 'how to treat different content under a SOP Instance UID that is already stored',
		topic: 'images',
		of: ['site'],
		kind: 'choice',
		choices: {
			keep: 'Keep the first: the new object waits in quarantine for a decision.',
			replace: 'Replace: the new object becomes the instance, and the first one goes into quarantine.',
			refuse: 'Refuse: the sender gets an error.',
		},
		default: 'keep',
	},
	other_patient: {
		label: 'Images of another patient than their study',
		meaning: 'what becomes of an image whose Patient ID leads to another patient than its study has',
		topic: 'images',
		of: ['site'],
		kind: 'choice',
		choices: {
			aside: 'Keep it aside: the image waits in quarantine for a decision. The sender gets a warning.',
			split: 'Split it off: the image becomes part of a study of its own under the patient whom it names. The sender gets a warning.',
		},
		default: 'aside',
	},
	audit_events: {
		label: 'Clients read the audit trail',
		meaning: 'FHIR clients find and read the events of the audit trail of their site as AuditEvents',
		topic: 'audit',
		of: ['site', 'key'],
		kind: 'switch',
		default: true,
	},
	recorded_reads: {
		label: 'Reads in the audit trail',
		meaning:
			'which reads of FHIR, DICOMweb and DICOM clients are recorded in the audit trail; writes, exports and what people look at always are',
		topic: 'audit',
		of: ['site', 'client', 'key'],
		kind: 'choice',
		choices: {
			patients: 'Of patients: DICOM queries, and FHIR reads whose answer names a patient or that are forbidden.',
			all: 'All: also reads that find nothing, fail, or tell of no patient.',
			none: 'None: right only where another system records them.',
		},
		default: 'patients',
	},
	silent_after: {
		label: 'Silent after',
		meaning: 'a sender from whom nothing has come for so long counts as silent, which is an alert; a number with m, h or d: 90m',
		topic: 'feed',
		of: ['client', 'key'],
		kind: 'text',
		placeholder: '90m',
		fault: (text) =>
			/^[1-9]\d{0,4}[mhd]$/.test(text) ? undefined : 'a time is a number of minutes, hours or days, such as 90m, 12h or 3d',
		otherwise: 'three times the longest usual pause of the same hour of the week, as the last four weeks show it',
	},
	paused: {
		label: 'Paused',
		meaning:
			'nothing is taken from the sender until this ends: MLLP waits, HTTP ($import too) is answered 503 and C-STORE 0xA700, so the sender keeps what it has',
		topic: 'feed',
		of: ['client', 'key'],
		kind: 'switch',
		default: false,
	},
	message_retention_days: keptDays('Message log', 'a message leaves the message log', 'MESSAGE_RETENTION_DAYS'),
	history_retention_days: keptDays(
		'Earlier versions of resources',
		'an earlier version of a resource is removed',
		'HISTORY_RETENTION_DAYS',
	),
	audit_retention_days: keptDays(
		'Audit trail',
		'events of the audit trail may be removed; a month goes when the times of all sites are over',
		'AUDIT_KEEP_DAYS',
	),
	accepted_retention_days: keptDays(
		'Recognition of repeated messages',
		'a message that comes again is no longer recognised, and is applied again',
		'ACCEPTED_RETENTION_DAYS',
	),
	unmatched_retention_days: keptDays('Unmatched traffic', 'an unmatched message for the site is removed', 'UNMATCHED_RETENTION_DAYS'),
	job_retention_days: keptDays('Finished runs', 'a replay or another run that has ended is removed from the list', 'JOB_RETENTION_DAYS'),
	feed_retention_days: keptDays('Figures of feeds', 'the figures of feeds are removed', 'FEED_RETENTION_DAYS'),
	study_retention_days: keptDays(
		'Studies',
		'a study that has not changed since is deleted with its images; a legal hold keeps it',
		'STUDY_RETENTION_DAYS',
	),
} as const satisfies Readonly<Record<string, SettingDefinition>>;
