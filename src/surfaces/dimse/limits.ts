import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Associations, what they carry, and storage commitment. */
export const dimseLimitDefinitions = {
	dimsePduBytesMax: {
		variable: 'DIMSE_PDU_BYTES_MAX',
		default: 128 * 1024,
		min: 4096,
		max: 16 * MiB,
		answer: 'the announced maximum length of a P-DATA-TF, and of a complete command set; A-ABORT',
	},
	dimseAssociateBytesMax: {
		variable: 'DIMSE_ASSOCIATE_BYTES_MAX',
		default: 512 * 1024,
		min: 4096,
		max: 16 * MiB,
		answer: 'bytes of an A-ASSOCIATE-RQ; A-ABORT before it is read',
	},
	dimseAssociationsMax: {
		variable: 'DIMSE_ASSOCIATIONS_MAX',
		default: 256,
		min: 1,
		max: 65_535,
		ofNode: 'shared',
		answer:
			'open associations; a further one gets A-ASSOCIATE-RJ (transient, local limit exceeded), beyond twice as many connections are closed immediately',
	},
	dimseAddressConnectionsMax: {
		variable: 'DIMSE_ADDRESS_CONNECTIONS_MAX',
		default: 256,
		min: 1,
		max: 131_070,
		ofNode: 'shared',
		answer: 'connections of one address (of an IPv6 address, its /64), with an association or without; a further one is closed immediately',
	},
	dimseClientAssociationsMax: {
		variable: 'DIMSE_CLIENT_ASSOCIATIONS_MAX',
		default: 128,
		min: 1,
		max: 65_535,
		ofNode: 'shared',
		answer: 'open associations of one integration client; a further one gets A-ASSOCIATE-RJ (transient, local limit exceeded)',
	},
	dimseSiteAssociationsMax: {
		variable: 'DIMSE_SITE_ASSOCIATIONS_MAX',
		default: 192,
		min: 1,
		max: 65_535,
		ofNode: 'shared',
		answer:
			'open associations of one site, where its `associations_max` does not say otherwise; A-ASSOCIATE-RJ (transient, local limit exceeded)',
	},
	dimseArtimMsMax: {
		variable: 'DIMSE_ARTIM_MS_MAX',
		default: 30_000,
		min: 100,
		max: 600_000,
		answer: 'time of a connection without an A-ASSOCIATE-RQ, or after its association; the connection is closed',
	},
	dimseIdleMsMax: {
		variable: 'DIMSE_IDLE_MS_MAX',
		default: 10 * 60_000,
		min: 100,
		max: 86_400_000,
		answer: 'time of an association without a message; A-ABORT',
	},
	dimseStallMsMax: {
		variable: 'DIMSE_STALL_MS_MAX',
		default: 60_000,
		min: 100,
		max: 3_600_000,
		answer: 'time in which an unfinished message receives nothing, or an answer is not read; A-ABORT, nothing is stored',
	},
	dimseDataSetBytesMax: {
		variable: 'DIMSE_DATA_SET_BYTES_MAX',
		default: 4 * MiB,
		min: 1024,
		max: 256 * MiB,
		answer: 'bytes of the data set of an N-CREATE or N-SET, or of the identifier of a query or retrieval; 0x0213, 0xA700',
	},
	dimseFindMatchesMax: {
		variable: 'DIMSE_FIND_MATCHES_MAX',
		default: 10_000,
		min: 1,
		max: 1_000_000,
		answer: 'matches of a C-FIND; further ones are not sent, the last response is 0xA700',
	},
	dimseConnectMsMax: {
		variable: 'DIMSE_CONNECT_MS_MAX',
		default: 15_000,
		min: 100,
		max: 600_000,
		answer: 'time for a remote AE to accept the connection and the association; nothing is sent to it',
	},
	dimseResponseMsMax: {
		variable: 'DIMSE_RESPONSE_MS_MAX',
		default: 120_000,
		min: 100,
		max: 3_600_000,
		answer: 'time for a remote AE to answer a request; A-ABORT',
	},
	commitmentReferencesMax: {
		variable: 'COMMITMENT_REFERENCES_MAX',
		default: 20_000,
		min: 1,
		max: 1_000_000,
		answer: 'instances in one storage commitment request; 0x0213',
	},
	commitmentReportsMax: {
		variable: 'COMMITMENT_REPORTS_MAX',
		default: 4,
		min: 1,
		max: 100,
		ofNode: 'divided',
		answer: 'concurrent associations for commitment reports on a node; further reports wait',
	},
	commitmentRetryMs: {
		variable: 'COMMITMENT_RETRY_MS',
		default: 10_000,
		min: 10,
		max: 3_600_000,
		answer: 'pause after the first failed commitment report; it doubles, up to ten minutes',
	},
	commitmentReportMsMax: {
		variable: 'COMMITMENT_REPORT_MS_MAX',
		default: 86_400_000,
		min: 100,
		max: 31_536_000_000,
		answer: 'time in which a commitment report could not be delivered; it is given up, logged and listed',
	},
	commitmentAgeMsMax: {
		variable: 'COMMITMENT_AGE_MS_MAX',
		default: 7 * 86_400_000,
		min: 1000,
		max: 31_536_000_000,
		answer: 'time since the end of a storage commitment request; it is removed from the list',
	},
} as const satisfies LimitDefinitions;

export type DimseLimits = LimitsOf<typeof dimseLimitDefinitions>;
