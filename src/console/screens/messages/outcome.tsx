import { Badge, type Tone } from '../../components/badge.tsx';

const tones: Readonly<Record<string, Tone>> = { accepted: 'good', refused: 'danger', ignored: 'neutral', duplicate: 'info' };

export function Outcome({ outcome }: { outcome: string }) {
	return <Badge tone={tones[outcome] ?? 'neutral'}>{outcome}</Badge>;
}

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
