import { ImageSender, ModalitySender } from './dimse-senders.ts';
import {
	fhirCreate,
	fhirPlainCreate,
	fhirTransaction,
	hl7Ingest,
	mppsReports,
	StatedVersionSender,
	storeOverWeb,
	v3Ingest,
} from './http-senders.ts';
import { MllpBatchSender, MllpSender } from './mllp-sender.ts';
import type { Sender, SenderPlace } from './sender.ts';

/** Every way in, by its kind of sender. */
export const senders = {
	mllp: (place) => new MllpSender(place, false),
	'mllp-tls': (place) => new MllpSender(place, true),
	'mllp-batch': (place) => new MllpBatchSender(place, false),
	hl7: hl7Ingest,
	v3: v3Ingest,
	mpps: mppsReports,
	'mpps-dimse': (place) => new ModalitySender(place),
	dimse: (place) => new ImageSender(place),
	stow: storeOverWeb,
	fhir: fhirPlainCreate,
	'fhir-create': fhirCreate,
	'fhir-update': (place) => new StatedVersionSender(place),
	'fhir-transaction': fhirTransaction,
} as const satisfies Record<string, (place: SenderPlace) => Sender>;

export type SenderKind = keyof typeof senders;
