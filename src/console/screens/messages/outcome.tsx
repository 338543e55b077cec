import { Badge, type Tone } from '../../components/badge.tsx';
import type { MessageRecord } from './calls.ts';

const tones: Readonly<Record<string, Tone>> = { accepted: 'good', refused: 'danger', ignored: 'neutral', duplicate: 'info' };

export function Outcome({ outcome }: { outcome: string }) {
	return <Badge tone={tones[outcome] ?? 'neutral'}>{outcome}</Badge>;
}

/** Kinds of messages as people know them. Edits of reports are not logged. */
export const kindNames: Readonly<Record<Exclude<NonNullable<MessageRecord['kind']>, 'report'>, string>> = {
	hl7v2: 'HL7 v2',
	hl7v3: 'HL7 v3 and documents',
	fhir: 'FHIR request',
	mpps: 'Procedure step report',
	instance: 'Image',
	conflict: 'Decision on a conflict',
	identity: 'Merge by a person',
};

/** Surfaces as people know them. */
export const surfaceNames: Readonly<Record<string, string>> = {
	mllp: 'MLLP',
	'hl7-http': 'HL7 over HTTP',
	fhir: 'FHIR',
	mpps: 'MPPS over HTTP',
	dimse: 'DICOM',
	dicomweb: 'DICOMweb',
	replay: 'Replay',
	administration: 'Console',
};
