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
		answer: 'the data set of a C-STORE, or a part of a store request of DICOMweb; 0xA700, nothing stored',
	},
	dicomHeaderBytesMax: {
		variable: 'DICOM_HEADER_BYTES_MAX',
		default: 4 * MiB,
		min: 1024,
		max: 256 * MiB,
		answer: 'elements before the pixel data that are read, not skipped; 0xC000',
	},
	carriedObjectBytesMax: {
		variable: 'CARRIED_OBJECT_BYTES_MAX',
		default: 64 * KiB,
		min: 0,
		max: 16 * MiB,
		answer: 'an instance up to this long is stored by the worker that writes its row; a longer one while it arrives',
	},
} as const satisfies LimitDefinitions;

export type ImagingLimits = LimitsOf<typeof imagingLimitDefinitions>;
