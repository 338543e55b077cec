import type { InstanceChange } from '../change-set.ts';
import type { IndexOutcome } from '../instance.ts';
import type { ApplyContext } from './context.ts';
import { tellReports } from './report-studies.ts';
import type { Row } from './rows.ts';

/** Puts an instance into the index of its site; what is there under its UID already decides what becomes of it. */
export function applyInstance(context: ApplyContext, { instance }: InstanceChange, patient: Row | undefined): void {
	context.instances.push(outcomeOf(context, instance, patient));
}

function outcomeOf(context: ApplyContext, instance: InstanceChange['instance'], patient: Row | undefined): IndexOutcome {
	const { set, newId, flags } = context;
	const { attributes, digest, objectKey } = instance;
	const held = set.instance(attributes.sopInstanceUid);
	if (held) {
		// A batch that was repeated after a lost connection meets its own row: the object is the one that the row names.
		if (held.objectKey === objectKey) return { kind: 'stored' };
		if (held.digest === digest) return { kind: 'duplicate' };
		set.putConflict({ id: newId(), instance });
		return { kind: 'quarantined' };
	}
	const study = set.study(attributes.studyUid);
	if (study && patient && study.patientId !== patient.id) {
		flags.push({ code: 'other-patient', text: 'the instance names another patient than its study has; the study stays with the first' });
	}
	set.putInstance({
		instance,
		patientId: study ? study.patientId : (patient?.id ?? null),
		studyId: newId(),
		isNewStudy: study === undefined,
		isNewSeries: !set.hasSeries(attributes.studyUid, attributes.seriesUid),
	});
	const begun = study === undefined ? set.study(attributes.studyUid) : undefined;
	if (begun) tellReports(context, begun);
	return { kind: 'stored' };
}
