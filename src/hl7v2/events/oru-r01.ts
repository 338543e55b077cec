import { Failure } from '#core/failure.ts';
import type { Change } from '#record/kinds/index.ts';
import type { PatientChange } from '#record/kinds/patient.ts';
import type { ServiceRequestChange } from '#record/kinds/service-request.ts';
import type { Message, Segment } from '../message.ts';
import { type Context, nameOf } from '../segments/context.ts';
import { type GroupOwner, noOrder, orderContext, specimenOf } from '../segments/obr.ts';
import { ObservationGroup, outOfOrder } from '../segments/observation-group.ts';
import { sendingApplication } from '../segments/order-number.ts';
import type { Ordinals } from '../segments/ordinals.ts';
import { addDemographics, itemChanges, type PatientGroup } from '../segments/patient-group.ts';
import { patientChange, requirePid } from '../segments/pid.ts';
import { encounterChange } from '../segments/pv1.ts';
import { ReportReading } from '../segments/report.ts';
import { serviceRequestChange } from '../segments/service-request.ts';
import type { Hl7v2Event } from './event.ts';

/** Unsolicited observation result (v2.5.1 §7.3.1): every PATIENT_RESULT group, every order of it, every OBX. */
export const oruR01: Hl7v2Event = { messageType: 'ORU^R01', always: true, effect: 'See "Results"', changes: results };

function results(message: Message, context: Context): Change[] {
	requirePid(message);
	refuseTooMany(message, context);
	const reading = new ResultReading(context, sendingApplication(message));
	for (const segment of message.segments) reading.take(segment);
	return reading.end();
}

function refuseTooMany(message: Message, context: Context): void {
	const count = message.all('OBX').length;
	if (count <= context.observationsMax) return;
	throw new Failure('value-too-long', `the message has more than ${context.observationsMax} OBX segments`, {
		location: { segment: 'OBX', sequence: context.observationsMax + 1 },
	});
}

/** Walks the segments in order; a segment belongs to the group that was opened last. */
class ResultReading {
	readonly #context: Context;
	readonly #sender: string;
	readonly #changes: Change[] = [];
	readonly #ordinals: Ordinals = new Map();
	#pid: Segment | undefined;
	#patient: PatientChange | undefined;
	#further: PatientGroup | undefined;
	#encounter: number | undefined;
	#orc: Segment | undefined;
	#group: ObservationGroup | undefined;
	/** Makes the order of the group, if the sender's messages refer to resources. */
	#order: ((owner: GroupOwner) => ServiceRequestChange | undefined) | undefined;
	/** Names of the orders that were made: several OBR may state parts of one. */
	readonly #ordered = new Set<string>();

	constructor(context: Context, sender: string) {
		this.#context = context;
		this.#sender = sender;
	}

	take(segment: Segment): void {
		switch (segment.id) {
			case 'PID':
				this.#openPatient(segment);
				break;
			case 'PV1':
				this.#readVisit(segment);
				break;
			case 'ORC':
				this.#openGroup(segment, undefined);
				this.#orc = segment;
				break;
			case 'OBR':
				this.#openGroup(this.#orc, segment);
				this.#orc = undefined;
				break;
			case 'SPM':
				this.#group?.setSpecimen(specimenOf(segment));
				break;
			case 'OBX':
				if (this.#group === undefined) throw outOfOrder(segment, 'PID');
				this.#group.addObx(segment);
				break;
			case 'NTE':
				this.#group?.addNote(segment);
				break;
			case 'ZDS':
			case 'IPC':
				this.#group?.addStudy(segment);
				break;
			case 'PD1':
			case 'NK1':
			case 'AL1':
			case 'DG1':
			case 'PR1':
				this.#collect(segment.id, segment);
				break;
		}
	}

	end(): Change[] {
		this.#closePatient();
		const [first] = this.#context.leftOut;
		if (first !== undefined && !this.#changes.some(({ kind }) => kind === 'observation')) throw first;
		return parentsFirst(this.#changes);
	}

	/** A known patient is not updated, because a result system is not the source of demographics. */
	#openPatient(pid: Segment): void {
		this.#closePatient();
		this.#pid = pid;
		this.#orc = undefined;
		this.#encounter = undefined;
		this.#patient = patientChange(pid, this.#changes.length, { known: 'keep' }, this.#context);
		this.#changes.push(this.#patient);
		this.#group = new ObservationGroup(noOrder, this.#context);
	}

	#readVisit(pv1: Segment): void {
		if (this.#pid === undefined || this.#patient === undefined) throw outOfOrder(pv1, 'PID');
		if (this.#encounter !== undefined) {
			this.#context.flag('segment-skipped', `${nameOf(pv1)} was left out: its patient has a PV1 already`);
			return;
		}
		const ref = this.#changes.length;
		const change = encounterChange(pv1, this.#pid, ref, this.#patient.ref, { unknown: 'create', known: 'keep' }, this.#context);
		if (change === undefined) return;
		this.#encounter = ref;
		this.#changes.push(change);
	}

	#openGroup(orc: Segment | undefined, obr: Segment | undefined): void {
		const opener = obr ?? orc;
		if (this.#pid === undefined && opener !== undefined) throw outOfOrder(opener, 'PID');
		this.#closeGroup();
		const order = orderContext(orc, obr, this.#sender, this.#context);
		const report = obr && new ReportReading(obr, order, this.#sender, this.#context);
		this.#group = new ObservationGroup(order, this.#context, report);
		this.#order = obr && ((owner) => serviceRequestChange(orc, obr, order, owner, this.#context));
	}

	#closeGroup(): void {
		if (this.#group && this.#patient) {
			const owner = { patient: this.#patient.ref, encounter: this.#encounter, ordinals: this.#ordinals };
			this.#pushOrder(owner);
			this.#changes.push(...this.#group.changes(owner));
		}
		this.#group = undefined;
	}

	#pushOrder(owner: GroupOwner): void {
		const order = this.#order?.(owner);
		this.#order = undefined;
		const isKnown = order?.named.some((name) => this.#ordered.has(`${owner.patient} ${name}`)) === true;
		if (order === undefined || isKnown) return;
		for (const name of order.named) this.#ordered.add(`${owner.patient} ${name}`);
		this.#changes.push(order);
	}

	/** Facts about the patient may be anywhere after the PID. They never cause a refusal. */
	#collect(id: keyof PatientGroup, segment: Segment): void {
		if (this.#patient === undefined) {
			this.#context.flag('segment-skipped', `${nameOf(segment)} was left out: it stands before any PID`);
			return;
		}
		this.#further ??= {};
		this.#further[id] ??= [];
		this.#further[id].push(segment);
	}

	#closePatient(): void {
		this.#closeGroup();
		if (this.#patient === undefined || this.#further === undefined) return;
		addDemographics(this.#patient, this.#further, this.#context);
		const owner = { patient: this.#patient.ref, encounter: this.#encounter };
		this.#changes.push(...itemChanges(this.#further, owner, this.#context));
		this.#further = undefined;
	}
}

/** Puts results that say more of another one (OBR-26) behind all others, because they refer to it. */
function parentsFirst(changes: Change[]): Change[] {
	const isFurther = (change: Change) => change.kind === 'observation' && change.parent !== undefined;
	if (!changes.some(isFurther)) return changes;
	return [...changes.filter((change) => !isFurther(change)), ...changes.filter(isFurther)];
}
