import type { Change } from '#record/kinds/index.ts';
import { type Context, failureAt } from '../context.ts';
import type { XmlElement } from '../element.ts';
import { patientChange } from '../patient.ts';

/** A registration event (MFMI_MT700701UV01) and the patient that it is about. */
export interface Registration {
	event: XmlElement;
	patient: XmlElement;
}

/**
 * The registration events of a message, in order. The model allows several; they take effect together or not at all.
 * @throws Failure `segment-sequence` when there is none, or one is about no patient
 */
export function registrations(message: XmlElement): Registration[] {
	const act = message.first('controlActProcess');
	if (act === undefined) throw failureAt('segment-sequence', message, 'controlActProcess is missing');
	const subjects = act.children('subject');
	if (subjects.length === 0) throw failureAt('segment-sequence', act, 'controlActProcess has no subject');
	return subjects.map((subject) => {
		const event = subject.first('registrationEvent');
		if (event === undefined) throw failureAt('segment-sequence', subject, 'registrationEvent is missing');
		const patient = event.first('subject1', 'patient');
		if (patient === undefined) throw failureAt('segment-sequence', event, 'subject1/patient is missing');
		return { event, patient };
	});
}

/** Added and revised alike: a patient that is not known is created, one that is known takes what the message states. */
export function upserts(message: XmlElement, context: Context): Change[] {
	return registrations(message).map(({ patient }, ref) => patientChange(patient, ref, 'update', context));
}
