/**
 * What a site knows of studies and their images, written from docs/conformance/dicom.md "Patients of studies" and
 * docs/administration.md "Studies of the wrong patient". It imports nothing of the product.
 */
import { Ambiguous, Held, type Item, type PatientRecord, PeopleModel, type StatedPerson } from './model.ts';

/** What an image says of itself. */
export interface Image {
	readonly uid: string;
	readonly studyUid: string;
	/** The number of the patient, in the words of the sender. */
	readonly stated: string;
	readonly person: StatedPerson;
}

interface Study extends Item {
	readonly kind: 'study';
	images: Image[];
	/** The number of the first image of a study that began without a patient. */
	stated: string | undefined;
	/** Patients from whom people took the study. Images may still name them. */
	formers: number[];
}

/** What a person did to a study, and what it was before. */
interface Edit {
	readonly operation: 'assign' | 'move' | 'split';
	readonly study: string;
	readonly to: string | undefined;
	readonly before: Readonly<Pick<Study, 'patient' | 'recorded' | 'stated' | 'formers'>>;
	readonly images: readonly Image[];
	/** The patient of an assignment. */
	isUndone: boolean;
}

/** Where an image went. */
export type Filed = 'stored' | 'aside' | 'split';

export class SiteModel extends PeopleModel {
	studies = new Map<string, Study>();
	/** Images that are kept aside, until somebody decides. */
	aside: Image[] = [];
	/** By the id that the product gave them. */
	readonly edits = new Map<string, Edit>();

	protected override everyItem(): Iterable<[string, Item]> {
		return [...this.items, ...this.studies];
	}

	/** A merge that leaves one patient with the number of a study without a patient settles whose it is. */
	override replace(prior: PatientRecord, survivor: PatientRecord, carried: readonly string[]): void {
		const unmatched = [...this.studies].filter(
			([, { patient, stated }]) => patient === undefined && stated !== undefined && this.patientsOfNumber(stated).length > 1,
		);
		super.replace(prior, survivor, carried);
		for (const [tag, study] of unmatched) {
			const [patient, ...others] = this.patientsOfNumber(study.stated ?? '');
			if (patient === undefined || others.length > 0) continue;
			study.patient = patient.id;
			this.#settle(tag);
		}
	}

	/** The study into which images are split off: as many as there are statements of patients. */
	splitTag({ studyUid, stated }: Image): string {
		return `${studyUid}/${stated}`;
	}

	/** Files an image by the rules for images of another patient than their study has. */
	image(image: Image): Filed {
		const study = this.studies.get(image.studyUid);
		if (study === undefined || !this.#namesOther(study, image)) {
			this.#fileIn(image.studyUid, image);
			return 'stored';
		}
		if (this.settings.otherPatient === 'split' && this.splitOff(image)) return 'split';
		this.#noteOther(study, image);
		this.aside.push(image);
		return 'aside';
	}

	/** False when the study into which it would go is that of yet another patient. */
	splitOff(image: Image): boolean {
		const tag = this.splitTag(image);
		const into = this.studies.get(tag);
		const study = this.studies.get(image.studyUid);
		if (study === undefined || (into !== undefined && this.#namesOther(into, image))) return false;
		this.#fileIn(tag, image);
		this.#noteOther(study, image);
		return true;
	}

	#namesOther({ stated, patient, formers }: Study, { stated: number }: Image): boolean {
		if (stated !== undefined && (this.isSame(number, stated) || this.isSame(stated, number))) return false;
		if (patient === undefined) return stated !== undefined;
		const led = this.patientsOfNumber(number).map(({ id }) => id);
		return ![patient, ...formers].some((id) => led.includes(this.survivorOf(this.record(id)).id));
	}

	#noteOther({ patient }: Study, { studyUid, stated }: Image): void {
		const led = this.patientsOfNumber(stated).map(({ id }) => id);
		const patients = [...(patient === undefined ? [] : [patient]), ...(led.length === 1 ? led : [])];
		this.doubts.raise({ kind: 'other-patient', study: studyUid, patients, number: stated }, [studyUid, this.nameOf(stated)]);
	}

	/** Files an image in a study, which may be a new one. The patient of a study that has one is not looked up again. */
	#fileIn(tag: string, image: Image): void {
		const study = this.studies.get(tag);
		if (study?.patient !== undefined) {
			study.images.push(image);
			return;
		}
		const patient = this.#patientOf(tag, image);
		if (study === undefined) {
			const stated = patient === undefined ? image.stated : undefined;
			this.studies.set(tag, { kind: 'study', patient: patient?.id, recorded: undefined, images: [image], stated, formers: [] });
			return;
		}
		study.images.push(image);
		study.patient = patient?.id;
		if (patient !== undefined) this.#settle(tag);
	}

	#patientOf(tag: string, { stated, person }: Image): PatientRecord | undefined {
		try {
			return this.mention([stated], person);
		} catch (error) {
			if (error instanceof Held) this.noteHeld(error);
			else if (!(error instanceof Ambiguous)) throw error;
			this.doubts.raise({ kind: 'unmatched-study', study: tag }, [tag]);
			return undefined;
		}
	}

	#settle(tag: string): void {
		this.doubts.settle(({ study }) => study === tag);
	}

	/** A person decides about an image that is kept aside; false when that cannot be done. */
	decide(image: Image, keep: 'stored' | 'received' | 'split'): boolean {
		const isSplit = keep === 'split' && this.studies.has(image.studyUid);
		if (isSplit && !this.splitOff(image)) return false;
		// Without the study it begins one of its own in any case.
		if (!isSplit && keep !== 'stored') this.#fileIn(image.studyUid, image);
		this.aside = this.aside.filter((other) => other !== image);
		const isOfSame = (studyUid: string | undefined, stated: string) =>
			studyUid === image.studyUid && this.nameOf(stated) === this.nameOf(image.stated);
		if (this.aside.some(({ studyUid, stated }) => isOfSame(studyUid, stated))) return true;
		this.doubts.settle(({ study, number }) => number !== undefined && isOfSame(study, number));
		return true;
	}

	/** Gives a whole study to a patient; images that were kept aside and name the patient become part of it. */
	assign(tag: string, record: PatientRecord, editId: string): void {
		const study = this.#study(tag);
		const patient = this.survivorOf(record);
		this.#record(editId, { operation: 'assign', study: tag, to: undefined, before: { ...study }, images: [], isUndone: false });
		if (study.patient !== undefined) study.formers = [...study.formers.filter((id) => id !== study.patient), study.patient];
		study.patient = patient.id;
		study.recorded = undefined;
		this.#settle(tag);
		const theirs = this.aside.filter(({ studyUid, stated }) => studyUid === tag && this.patientsOfNumber(stated).includes(patient));
		for (const image of theirs) this.decide(image, 'received');
	}

	/** Moves images into another study; they begin one of the patient if there is none. */
	move(tag: string, to: string, images: readonly Image[], editId: string, beginner?: PatientRecord): void {
		const study = this.#study(tag);
		const operation = beginner === undefined ? 'move' : 'split';
		this.#record(editId, { operation, study: tag, to, before: { ...study }, images, isUndone: false });
		if (beginner !== undefined) {
			const patient = this.survivorOf(beginner).id;
			this.studies.set(to, { kind: 'study', patient, recorded: undefined, images: [], stated: undefined, formers: [] });
		}
		this.#carry(tag, to, images);
		this.#settle(tag);
	}

	#carry(tag: string, to: string, images: readonly Image[]): void {
		const [study, other] = [this.#study(tag), this.#study(to)];
		const taken = study.images.filter((image) => images.includes(image));
		study.images = study.images.filter((image) => !taken.includes(image));
		other.images.push(...taken);
		if (study.images.length === 0) this.studies.delete(tag);
	}

	/** Takes an edit back; false when the images are no longer where they went. */
	undo(editId: string): boolean {
		const edit = this.edits.get(editId);
		if (edit === undefined || edit.isUndone) return false;
		const { study: tag, to, before, images } = edit;
		const under = before.recorded ?? before.patient;
		const patient = under === undefined ? undefined : this.survivorOf(this.record(under)).id;
		const recorded = patient === under ? undefined : under;
		if (to === undefined) {
			const study = this.studies.get(tag);
			if (study === undefined) return false;
			Object.assign(study, { patient, recorded, formers: study.formers.filter((id) => id !== before.patient) });
		} else {
			const held = this.studies.get(to)?.images ?? [];
			if (!images.some((image) => held.includes(image))) return false;
			if (!this.studies.has(tag)) this.studies.set(tag, { ...before, kind: 'study', patient, recorded, images: [] });
			this.#carry(to, tag, images);
		}
		edit.isUndone = true;
		return true;
	}

	#record(editId: string, edit: Edit): void {
		this.edits.set(editId, edit);
	}

	#study(tag: string): Study {
		const study = this.studies.get(tag);
		if (study === undefined) throw new Error('the model has no such study');
		return study;
	}

	/** The answer of a query names the patient by one of the numbers that the patient has now. */
	hasStudyOf(tag: string, patientId: string): boolean {
		const { patient } = this.studies.get(tag) ?? {};
		const { own = [], old = [] } = patient === undefined ? {} : this.record(patient);
		return [...own, ...old].some((number) => number.endsWith(`|${patientId}`));
	}

	/** Studies that a query by the number finds. */
	studiesOfNumber(number: string): string[] {
		return this.patientsOfNumber(number)
			.flatMap((record) => this.itemsOf(record, 'study'))
			.sort();
	}
}
