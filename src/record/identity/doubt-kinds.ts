/** The kinds of doubt about who a patient is, each with what it says to people. */
export const doubtKinds = {
	'identifiers-disagree': 'the numbers of one message belong to several patients',
	'number-shared': 'a patient was stored with a number that another patient already has',
	'number-ambiguous': 'a number without an assigning authority belongs to several patients',
	mismatch: 'a known number came with another name, birth date or sex',
	'authority-meanings': 'a name of an assigning authority was stated with several OIDs',
	'unmatched-study': 'a study is stored without a patient',
	'other-patient': 'an image names another patient than its study',
} as const;

export type DoubtKind = keyof typeof doubtKinds;

/** The end of the text of a mismatch whose message waits for a person. */
export const heldText = 'it is held until a person accepts it';

export function isDoubtKind(text: string): text is DoubtKind {
	return Object.hasOwn(doubtKinds, text);
}
