import { accessLimitDefinitions } from './access-limits.ts';
import { administrationLimitDefinitions } from './administration-limits.ts';
import { databaseLimitDefinitions } from './database-limits.ts';
import { dicomLimitDefinitions } from './dicom-limits.ts';
import { dicomWebLimitDefinitions } from './dicomweb-limits.ts';
import { hl7v2LimitDefinitions } from './hl7v2-limits.ts';
import { signInLimitDefinitions } from './sign-in-limits.ts';
import { xmlLimitDefinitions } from './xml-limits.ts';

/**
 * Every limit of the product in one table: its default, the environment variable that changes it, and what the
 * sender is answered at the limit. `config.ts` reads the variables, `docs/configuration.md` is printed from here.
 */
export interface LimitDefinition {
	variable: string;
	default: number;
	min: number;
	max: number;
	answer: string;
}

const MiB = 1024 * 1024;

export const limitDefinitions = {
	mllpFrameBytesMax: {
		variable: 'MLLP_FRAME_BYTES_MAX',
		default: 32 * MiB,
		min: 1024,
		max: 512 * MiB,
		answer: 'AE (the head of the message is read, the rest is skipped), the connection stays open',
	},
	mllpConnectionsMax: {
		variable: 'MLLP_CONNECTIONS_MAX',
		default: 4096,
		min: 1,
		max: 65_535,
		answer: 'a further connection is closed at once and counted',
	},
	mllpConnectionMessagesMax: {
		variable: 'MLLP_CONNECTION_MESSAGES_MAX',
		default: 64,
		min: 1,
		max: 10_000,
		answer: 'messages of one connection that wait for their answer; reading from it pauses',
	},
	mllpIdleMsMax: {
		variable: 'MLLP_IDLE_MS_MAX',
		default: 30 * 60_000,
		min: 1000,
		max: 86_400_000,
		answer: 'a connection without traffic is closed',
	},
	mllpFrameMsMax: {
		variable: 'MLLP_FRAME_MS_MAX',
		default: 60_000,
		min: 100,
		max: 3_600_000,
		answer: 'a frame that was begun and does not go on for this long: the connection is closed, nothing stored',
	},
	dimsePduBytesMax: {
		variable: 'DIMSE_PDU_BYTES_MAX',
		default: 128 * 1024,
		min: 4096,
		max: 16 * MiB,
		answer: 'the maximum length announced for P-DATA-TF, also of a whole command set; A-ABORT',
	},
	dimseAssociateBytesMax: {
		variable: 'DIMSE_ASSOCIATE_BYTES_MAX',
		default: 512 * 1024,
		min: 4096,
		max: 16 * MiB,
		answer: 'an A-ASSOCIATE-RQ; A-ABORT before it is read',
	},
	dimseAssociationsMax: {
		variable: 'DIMSE_ASSOCIATIONS_MAX',
		default: 256,
		min: 1,
		max: 65_535,
		answer: 'a further one: A-ASSOCIATE-RJ, transient, local limit exceeded; twice as many connections: closed at once',
	},
	dimseArtimMsMax: {
		variable: 'DIMSE_ARTIM_MS_MAX',
		default: 30_000,
		min: 100,
		max: 600_000,
		answer: 'without A-ASSOCIATE-RQ, or after the end of the association: the connection is closed',
	},
	dimseIdleMsMax: {
		variable: 'DIMSE_IDLE_MS_MAX',
		default: 10 * 60_000,
		min: 100,
		max: 86_400_000,
		answer: 'an association without a message; A-ABORT',
	},
	dimseStallMsMax: {
		variable: 'DIMSE_STALL_MS_MAX',
		default: 60_000,
		min: 100,
		max: 3_600_000,
		answer: 'a message that was begun and does not go on, or an answer that is not taken; A-ABORT, nothing stored',
	},
	dimseObjectBytesMax: {
		variable: 'DIMSE_OBJECT_BYTES_MAX',
		default: 16_384 * MiB,
		min: 1024,
		max: 1_048_576 * MiB,
		answer: 'the data set of a C-STORE, or a part of a store request of DICOMweb; 0xA700, nothing stored',
	},
	dimseDataSetBytesMax: {
		variable: 'DIMSE_DATA_SET_BYTES_MAX',
		default: 4 * MiB,
		min: 1024,
		max: 256 * MiB,
		answer: 'the data set of an N-CREATE or N-SET, or the identifier of a query or retrieval; 0x0213, 0xA700',
	},
	dimseFindMatchesMax: {
		variable: 'DIMSE_FIND_MATCHES_MAX',
		default: 10_000,
		min: 1,
		max: 1_000_000,
		answer: 'matches of a C-FIND; what is beyond is not sent, the last response is 0xA700',
	},
	dimseConnectMsMax: {
		variable: 'DIMSE_CONNECT_MS_MAX',
		default: 15_000,
		min: 100,
		max: 600_000,
		answer: 'a remote AE that does not accept the connection and the association; nothing is sent to it',
	},
	dimseResponseMsMax: {
		variable: 'DIMSE_RESPONSE_MS_MAX',
		default: 120_000,
		min: 100,
		max: 3_600_000,
		answer: 'a remote AE that does not answer a request; A-ABORT',
	},
	commitmentReferencesMax: {
		variable: 'COMMITMENT_REFERENCES_MAX',
		default: 20_000,
		min: 1,
		max: 1_000_000,
		answer: 'instances that one request for storage commitment names; 0x0213',
	},
	commitmentReportsMax: {
		variable: 'COMMITMENT_REPORTS_MAX',
		default: 4,
		min: 1,
		max: 100,
		answer: 'associations for commitment reports that a node has open at once; further reports wait',
	},
	commitmentRetryMs: {
		variable: 'COMMITMENT_RETRY_MS',
		default: 10_000,
		min: 10,
		max: 3_600_000,
		answer: 'after the first commitment report that failed; the pause doubles, up to ten minutes',
	},
	commitmentReportMsMax: {
		variable: 'COMMITMENT_REPORT_MS_MAX',
		default: 86_400_000,
		min: 100,
		max: 31_536_000_000,
		answer: 'a commitment report that could not be delivered for this long is given up, logged and listed',
	},
	commitmentAgeMsMax: {
		variable: 'COMMITMENT_AGE_MS_MAX',
		default: 7 * 86_400_000,
		min: 1000,
		max: 31_536_000_000,
		answer: 'since the end of a request for storage commitment; it is removed from the list',
	},
	unavailableMsMax: {
		variable: 'UNAVAILABLE_MS_MAX',
		default: 30_000,
		min: 100,
		max: 600_000,
		answer: 'the service itself cannot store: MLLP closes the connection without an answer, HTTP answers 503',
	},
	httpBodyBytesMax: { variable: 'HTTP_BODY_BYTES_MAX', default: 32 * MiB, min: 1024, max: 512 * MiB, answer: '413' },
	httpRequestsMax: {
		variable: 'HTTP_REQUESTS_MAX',
		default: 2048,
		min: 1,
		max: 100_000,
		answer: 'requests of one surface under way; 503 with Retry-After',
	},
	httpWaitingBytesMax: {
		variable: 'HTTP_WAITING_BYTES_MAX',
		default: 512 * MiB,
		min: 1024,
		max: 65_536 * MiB,
		answer: 'bytes of request bodies of one surface that are being read or answered; 503 with Retry-After',
	},
	httpStallMsMax: {
		variable: 'HTTP_STALL_MS_MAX',
		default: 60_000,
		min: 1000,
		max: 3_600_000,
		answer: 'a client that takes nothing of a streamed answer for this long: the connection is closed',
	},
	searchValuesMax: {
		variable: 'SEARCH_VALUES_MAX',
		default: 2000,
		min: 1,
		max: 10_000,
		answer: 'values of all parameters of a search together; 400',
	},
	searchIncludesMax: {
		variable: 'SEARCH_INCLUDES_MAX',
		default: 1000,
		min: 1,
		max: 100_000,
		answer: 'resources that _include and _revinclude add to a page; the rest is left out, and the Bundle says so',
	},
	jsonDepthMax: {
		variable: 'JSON_DEPTH_MAX',
		default: 100,
		min: 10,
		max: 1000,
		answer: 'objects and lists inside one another in a FHIR or MPPS body; 400',
	},
	...xmlLimitDefinitions,
	...administrationLimitDefinitions,
	mppsBytesMax: {
		variable: 'MPPS_BYTES_MAX',
		default: 2 * MiB,
		min: 1024,
		max: 64 * MiB,
		answer: 'of a report about a procedure step, and of the attributes that all of one step come to; 413, DIMSE 0x0213',
	},
	bundleEntriesMax: {
		variable: 'BUNDLE_ENTRIES_MAX',
		default: 5000,
		min: 1,
		max: 100_000,
		answer: 'entries of a batch or transaction; 413',
	},
	mailboxMessagesMax: {
		variable: 'MAILBOX_MESSAGES_MAX',
		default: 1024,
		min: 1,
		max: 1_000_000,
		answer: 'messages of one site that wait: MLLP pauses reading, HTTP answers 503 with Retry-After',
	},
	mailboxBytesMax: {
		variable: 'MAILBOX_BYTES_MAX',
		default: 128 * MiB,
		min: MiB,
		max: 16_384 * MiB,
		answer: 'bytes of one site that wait: as above',
	},
	waitingBytesMax: {
		variable: 'WAITING_BYTES_MAX',
		default: 512 * MiB,
		min: MiB,
		max: 65_536 * MiB,
		answer: 'bytes of all sites that wait: as above',
	},
	batchMessagesMax: {
		variable: 'BATCH_MESSAGES_MAX',
		default: 128,
		min: 1,
		max: 1024,
		answer: 'messages of one transaction; the rest waits for the next',
	},
	batchWaitMsMax: {
		variable: 'BATCH_WAIT_MS_MAX',
		default: 4,
		min: 0,
		max: 100,
		answer: 'a batch starts without the senders whose last messages were just answered',
	},
	batchBytesMax: {
		variable: 'BATCH_BYTES_MAX',
		default: 16 * MiB,
		min: 1024,
		max: 512 * MiB,
		answer: 'bytes of one transaction; a larger message travels alone',
	},
	...hl7v2LimitDefinitions,
	searchCountDefault: {
		variable: 'SEARCH_COUNT_DEFAULT',
		default: 50,
		min: 1,
		max: 1000,
		answer: 'entries of a page when _count is absent',
	},
	searchCountMax: {
		variable: 'SEARCH_COUNT_MAX',
		default: 1000,
		min: 1,
		max: 10_000,
		answer: 'a larger _count is cut to this; the self link says so',
	},
	searchBytesMax: {
		variable: 'SEARCH_BYTES_MAX',
		default: 32 * MiB,
		min: 1024,
		max: 256 * MiB,
		answer: 'resource text of one page; the page ends early and its next link goes on',
	},
	...databaseLimitDefinitions,
	searchParametersMax: { variable: 'SEARCH_PARAMETERS_MAX', default: 64, min: 1, max: 1000, answer: '400' },
	bulkUnderWayMax: {
		variable: 'BULK_UNDER_WAY_MAX',
		default: 2,
		min: 1,
		max: 100,
		answer: 'exports and imports of one site under way; 429 with Retry-After',
	},
	bulkRunningMax: {
		variable: 'BULK_RUNNING_MAX',
		default: 2,
		min: 1,
		max: 100,
		answer: 'exports and imports of all sites that a node carries out at once; further ones wait',
	},
	bulkKeptMax: {
		variable: 'BULK_KEPT_MAX',
		default: 20,
		min: 1,
		max: 10_000,
		answer: 'exports and imports of one site whose results are kept; 429, until one is deleted or has reached its age',
	},
	bulkAgeMsMax: {
		variable: 'BULK_AGE_MS_MAX',
		default: 86_400_000,
		min: 1000,
		max: 31_536_000_000,
		answer: 'since the end of an export or import; its results are removed, then 404',
	},
	importBytesMax: { variable: 'IMPORT_BYTES_MAX', default: 16_384 * MiB, min: 1024, max: 1_048_576 * MiB, answer: 'of one import; 413' },
	importLineBytesMax: {
		variable: 'IMPORT_LINE_BYTES_MAX',
		default: 32 * MiB,
		min: 1024,
		max: 256 * MiB,
		answer: 'a longer line of an import is refused, the others are not',
	},
	importChunkLinesMax: {
		variable: 'IMPORT_CHUNK_LINES_MAX',
		default: 2000,
		min: 1,
		max: 100_000,
		answer: 'lines of an import in one transaction; the others wait for the next',
	},
	importRefusedMax: {
		variable: 'IMPORT_REFUSED_MAX',
		default: 100_000,
		min: 1,
		max: 10_000_000,
		answer: 'lines of an import that are refused, or wait for a later line; the import ends as failed',
	},
	unmatchedMessagesMax: {
		variable: 'UNMATCHED_MESSAGES_MAX',
		default: 1000,
		min: 1,
		max: 100_000,
		answer: 'unmatched messages waiting to be logged; further ones are only counted',
	},
	unmatchedBytesMax: {
		variable: 'UNMATCHED_BYTES_MAX',
		default: 64 * MiB,
		min: MiB,
		max: 4096 * MiB,
		answer: 'bytes of unmatched messages waiting to be logged; as above',
	},
	...accessLimitDefinitions,
	...signInLimitDefinitions,
	...dicomWebLimitDefinitions,
	...dicomLimitDefinitions,
	drainMsMax: {
		variable: 'DRAIN_MS_MAX',
		default: 30_000,
		min: 0,
		max: 600_000,
		answer: 'what is still in flight when draining ends is not answered; senders resend',
	},
} as const satisfies Record<string, LimitDefinition>;

export type LimitName = keyof typeof limitDefinitions;
export type Limits = Readonly<Record<LimitName, number>>;

export const defaultLimits: Limits = Object.freeze(
	Object.fromEntries(Object.entries(limitDefinitions).map(([name, { default: value }]) => [name, value])) as Record<LimitName, number>,
);
