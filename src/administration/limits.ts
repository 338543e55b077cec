import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

/** Limits of searches and runs that administrators start. */
export const administrationLimitDefinitions = {
	readingValuesMax: {
		variable: 'READING_VALUES_MAX',
		default: 20_000,
		min: 100,
		max: 1_000_000,
		answer: 'values that the reading view of a message shows; the rest is left out, and the answer says so',
	},
	readingCharactersMax: {
		variable: 'READING_CHARACTERS_MAX',
		default: 4000,
		min: 100,
		max: 1_000_000,
		answer: 'characters of one value in the reading view of a message; the value is cut, and its length is given',
	},
	viewerTokenMsMax: {
		variable: 'VIEWER_TOKEN_MS_MAX',
		default: 3_600_000,
		min: 60_000,
		max: 86_400_000,
		answer: 'time for which a link to the viewer of a site lets it read a study; then 401, and the study is opened again',
	},
	failuresScannedMax: {
		variable: 'FAILURES_SCANNED_MAX',
		default: 10_000,
		min: 100,
		max: 1_000_000,
		answer: 'refused messages of a site that are grouped by cause, newest first; older ones are left out, and the answer says so',
	},
	replayMessagesMax: {
		variable: 'REPLAY_MESSAGES_MAX',
		default: 10_000,
		min: 1,
		max: 100_000,
		answer: 'messages of one replay, oldest first; the rest waits for the next replay of the same cause',
	},
	rehearsedMessagesMax: {
		variable: 'REHEARSED_MESSAGES_MAX',
		default: 200,
		min: 1,
		max: 10_000,
		answer: 'messages of a cause that are tried to see what a remedy would do, oldest first; the answer says how many wait',
	},
	patientRowsMax: {
		variable: 'PATIENT_ROWS_MAX',
		default: 500,
		min: 10,
		max: 10_000,
		answer: 'resources of one type on the page of a patient, newest first; the page says if there are more',
	},
	patientResultsMax: {
		variable: 'PATIENT_RESULTS_MAX',
		default: 2000,
		min: 10,
		max: 20_000,
		answer: 'observations that `patient results` lists for a period, newest first; the answer says if there are more',
	},
	identityScanMax: {
		variable: 'IDENTITY_SCAN_MAX',
		default: 20_000,
		min: 100,
		max: 1_000_000,
		answer: 'patients compared for one page of possible duplicates; the next page continues after them',
	},
	profilesMax: {
		variable: 'PROFILES_MAX',
		default: 5000,
		min: 1,
		max: 50_000,
		answer: 'profiles, value sets and code systems that a site has loaded; loading more is refused',
	},
	profileBytesMax: {
		variable: 'PROFILE_BYTES_MAX',
		default: 16 * 1024 * 1024,
		min: 100_000,
		max: 256 * 1024 * 1024,
		answer: 'bytes of the definitions that a site has loaded, in the form in which they are kept; loading more is refused',
	},
	packageBytesMax: {
		variable: 'PACKAGE_BYTES_MAX',
		default: 256 * 1024 * 1024,
		min: 1024 * 1024,
		max: 1024 * 1024 * 1024,
		answer: 'bytes of a FHIR package when it is unpacked; it is refused',
	},
} as const satisfies LimitDefinitions;

export type AdministrationLimits = LimitsOf<typeof administrationLimitDefinitions>;
