const KiB = 1024;
const MiB = 1024 * KiB;

/** Of instances on their way in, whatever surface they come by; rows of the table in limits.ts. */
export const dicomLimitDefinitions = {
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
} as const;
