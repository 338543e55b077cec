import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Store requests, searches and metadata of DICOMweb. */
export const dicomWebLimitDefinitions = {
	stowBytesMax: {
		variable: 'STOW_BYTES_MAX',
		default: 65_536 * MiB,
		min: 1024,
		max: 1_048_576 * MiB,
		answer: 'bytes of one DICOMweb store request; 413, instances stored before are kept',
	},
	stowInstancesMax: {
		variable: 'STOW_INSTANCES_MAX',
		default: 10_000,
		min: 1,
		max: 1_000_000,
		answer: 'instances of one DICOMweb store request; 413, instances stored before are kept',
	},
	qidoCountMax: {
		variable: 'QIDO_COUNT_MAX',
		default: 1000,
		min: 1,
		max: 10_000,
		answer: 'results of one DICOMweb search, even without the limit parameter; a Warning header says that there are more',
	},
	dicomMetadataBytesMax: {
		variable: 'DICOM_METADATA_BYTES_MAX',
		default: 64 * MiB,
		min: 1024,
		max: 512 * MiB,
		answer: 'bytes of the elements of one instance that are read for its metadata; 406, or the answer breaks off',
	},
} as const satisfies LimitDefinitions;

export type DicomWebLimits = LimitsOf<typeof dicomWebLimitDefinitions>;
