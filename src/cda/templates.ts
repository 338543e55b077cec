/** Templates of entries by what they state: C-CDA R1.1 and R2.1, CCD (and C32), IHE PCC. Versions are not told apart. */
const ccda = '2.16.840.1.113883.10.20.22.4.';
const ccd = '2.16.840.1.113883.10.20.1.';
const ihe = '1.3.6.1.4.1.19376.1.5.3.1.4.';

const set = (...roots: string[]): ReadonlySet<string> => new Set(roots);

export const problemConcerns = set(`${ccda}3`, `${ihe}5.2`);
/** Admission, discharge, preoperative, postprocedure and encounter diagnosis. */
export const diagnosisActs = set(...['33', '34', '51', '65', '80'].map((id) => ccda + id));
export const problemObservations = set(`${ccda}4`, `${ccd}28`, `${ihe}5`);
export const allergyConcerns = set(`${ccda}30`, `${ihe}5.3`);
export const allergyObservations = set(`${ccda}7`, `${ccda}90`, `${ccd}18`, `${ihe}6`);
export const resultStatements = set(`${ccda}1`, `${ccda}2`, `${ccd}31`, `${ccd}32`);
export const vitalSignStatements = set(`${ccda}26`, `${ccda}27`, `${ccd}35`, `${ihe}13.1`, `${ihe}13.2`);
export const procedureStatements = set(`${ccda}12`, `${ccda}13`, `${ccda}14`, `${ccd}29`, `${ihe}19`);

export const statuses = set(`${ccda}6`, `${ccda}28`, `${ccd}39`, `${ccd}50`, `${ihe}1.1`);
export const severities = set(`${ccda}8`, `${ccd}55`, `${ihe}1`);
export const agesAtOnset = set(`${ccda}31`, `${ccd}38`);
export const reactions = set(`${ccda}9`, `${ccd}54`, `${ihe}6.1`);
export const criticalities = set(`${ccda}145`);
export const comments = set(`${ccda}64`, `${ccda}202`, `${ccd}40`, `${ihe}2`);
export const locations = set(`${ccda}32`);

/** Observations within a problem or allergy that say more of it, and are none themselves. */
const qualifying: readonly ReadonlySet<string>[] = [
	statuses,
	severities,
	agesAtOnset,
	reactions,
	criticalities,
	// Health status, priority and prognosis.
	set(`${ccda}5`, `${ccda}113`, `${ccda}143`, `${ccd}41`, `${ccd}51`, `${ccd}57`, `${ihe}1.2`),
];
export const qualifyingObservations: ReadonlySet<string> = new Set(qualifying.flatMap((templates) => [...templates]));
