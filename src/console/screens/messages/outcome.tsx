import { Badge, type Tone } from '../../components/badge.tsx';
import type { MessageRecord } from './calls.ts';

const tones: Readonly<Record<string, Tone>> = { accepted: 'good', refused: 'danger', ignored: 'neutral', duplicate: 'info' };

export function Outcome({ outcome }: { outcome: string }) {
	return <Badge tone={tones[outcome] ?? 'neutral'}>{outcome}</Badge>;
}

/** Display names of message kinds. Edits of reports and runs that read times anew are not logged. */
export const kindNames: Readonly<Record<Exclude<NonNullable<MessageRecord['kind']>, 'report' | 'rederivation'>, string>> = {
	hl7v2: 'HL7 v2',
	hl7v3: 'HL7 v3 and documents',
	fhir: 'FHIR request',
	mpps: 'Procedure step report',
	instance: 'Image',
	conflict: 'Settled conflict',
	identity: 'Patient merge or unmerge',
};

/** Display names of surfaces. */
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
