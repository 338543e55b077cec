import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const MiB = 1024 * 1024;

/** Limits of bodies, searches and their pages. JSON and lists have these limits in other formats too. */
export const fhirLimitDefinitions = {
	jsonDepthMax: {
		variable: 'JSON_DEPTH_MAX',
		default: 100,
		min: 10,
		max: 1000,
		answer: 'nesting depth of objects and lists in a FHIR or MPPS body; 400',
	},
	repetitionsMax: {
		variable: 'REPETITIONS_MAX',
		default: 10_000,
		min: 100,
		max: 1_000_000,
		answer: 'repetitions of an HL7 v2 field, AE 104; items of a list in a FHIR resource, 422',
	},
	bundleEntriesMax: {
		variable: 'BUNDLE_ENTRIES_MAX',
		default: 5000,
		min: 1,
		max: 100_000,
		answer: 'entries of a batch or transaction; 413',
	},
	searchParametersMax: { variable: 'SEARCH_PARAMETERS_MAX', default: 64, min: 1, max: 1000, answer: '400' },
	searchValuesMax: {
		variable: 'SEARCH_VALUES_MAX',
		default: 2000,
		min: 1,
		max: 10_000,
		answer: 'values of all parameters of a search, and words of those that are looked for by word; 400',
	},
	searchLengthMax: {
		variable: 'SEARCH_LENGTH_MAX',
		default: MiB,
		min: 2048,
		max: 64 * MiB,
		answer: 'characters of the parameters of a search, those of a form too; 400',
	},
	searchLinkLengthMax: {
		variable: 'SEARCH_LINK_LENGTH_MAX',
		default: 2048,
		min: 512,
		max: 65_536,
		answer: 'characters of a self or next link; a longer search is kept in the database, and its links have a short cursor',
	},
	longSearchMsMax: {
		variable: 'LONG_SEARCH_MS_MAX',
		default: 3_600_000,
		min: 1000,
		max: 604_800_000,
		answer: 'time for which a long search is kept; following a link starts it anew once half of it is over; then 410',
	},
	longSearchesMax: {
		variable: 'LONG_SEARCHES_MAX',
		default: 5000,
		min: 1,
		max: 1_000_000,
		answer: 'long searches that are kept of a site; the links of the oldest one are then 410',
	},
	searchCountDefault: {
		variable: 'SEARCH_COUNT_DEFAULT',
		default: 50,
		min: 1,
		max: 1000,
		answer: 'entries per page if _count is absent',
	},
	searchCountMax: {
		variable: 'SEARCH_COUNT_MAX',
		default: 1000,
		min: 1,
		max: 10_000,
		answer: 'the largest _count; a larger one is reduced to it, and the self link says so',
	},
	searchBytesMax: {
		variable: 'SEARCH_BYTES_MAX',
		default: 32 * MiB,
		min: 1024,
		max: 256 * MiB,
		answer: 'bytes of the resources on one page; the page ends early, and its next link continues',
	},
	searchIncludesMax: {
		variable: 'SEARCH_INCLUDES_MAX',
		default: 1000,
		min: 1,
		max: 100_000,
		answer: 'resources that _include and _revinclude may add to a page; the rest is left out, and the Bundle says so',
	},
} as const satisfies LimitDefinitions;

export type FhirLimits = LimitsOf<typeof fhirLimitDefinitions>;
