import type { Coding } from '#fhir/datatypes.ts';

const system = 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType';

/** The ways in which people take part in a visit (v3-ParticipationType). */
export const participation = {
	ATND: { system, code: 'ATND', display: 'attender' },
	REF: { system, code: 'REF', display: 'referrer' },
	CON: { system, code: 'CON', display: 'consultant' },
	ADM: { system, code: 'ADM', display: 'admitter' },
} as const satisfies Readonly<Record<string, Coding>>;
