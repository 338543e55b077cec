import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const KiB = 1024;
const MiB = 1024 * 1024;

/** Limits of instances on their way in, whatever the surface. */
export const imagingLimitDefinitions = {
	dimseObjectBytesMax: {
		variable: 'DIMSE_OBJECT_BYTES_MAX',
		default: 16_384 * MiB,
		min: 1024,
		max: 1_048_576 * MiB,
		answer: 'bytes of the data set of a C-STORE, or of a part of a DICOMweb store request; 0xA700, nothing is stored',
	},
	dicomHeaderBytesMax: {
		variable: 'DICOM_HEADER_BYTES_MAX',
		default: 4 * MiB,
		min: 1024,
		max: 256 * MiB,
		answer: 'bytes of the elements before the pixel data that are read into memory; 0xC000',
	},
	carriedObjectBytesMax: {
		variable: 'CARRIED_OBJECT_BYTES_MAX',
		default: 64 * KiB,
		min: 0,
		max: 16 * MiB,
		answer: 'bytes up to which an instance is stored by the worker that writes its row; a longer one is stored while it arrives',
	},
} as const satisfies LimitDefinitions;

export type ImagingLimits = LimitsOf<typeof imagingLimitDefinitions>;
