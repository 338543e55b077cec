import type { HeldRows } from '../apply/held-rows.ts';
import type { Holding } from '../apply/holding.ts';
import {
	type AssignedStudy,
	beganStudy,
	type Conflict,
	type HeldConflict,
	type HeldInstance,
	type HeldStudy,
	type InstancePolicy,
	type KeptObject,
	type NewInstance,
	type Replacement,
	type SettledConflict,
	type StatedPatient,
	type StatedPerson,
	type UnmatchedStudy,
} from '../imaging.ts';
import type { StoredInstance } from '../instance.ts';
import type { StudyNames } from '../report.ts';

export interface ImagingKeys {
	/** SOP Instance UIDs, each with the digests that came under it. */
	instances: Map<string, Set<string>>;
	/** Ids of conflicts that a person settles. */
	conflictIds: Set<string>;
	studyUids: Set<string>;
	/** Studies of the instances, with their accession number. Reports may be waiting for the new ones. */
	arrivingStudies: Map<string, string | undefined>;
	/** Accession numbers of studies that reports name. */
	accessionNumbers: Set<string>;
	/** Instances that name another patient than their study: objects of the same content that are kept aside, as UID and digest. */
	foreign: [uid: string, digest: string][];
	/** Studies whose patient or contents the message may change. The reports that name them are read. */
	relinked: Set<string>;
	/** SOP Instance UIDs of procedure steps that may tell whose a study without a patient is. */
	steps: Set<string>;
	/** True when the message merges or separates patients, which may tell whose a study without a patient is. */
	mayMatch: boolean;
}

/** The index of instances, series and studies, and the conflicts about them. */
export class Imaging {
	readonly #rows: HeldRows;
	/** Instances by SOP Instance UID. */
	readonly #instances = new Map<string, HeldInstance>();
	/** Studies by Study Instance UID. */
	readonly #studies = new Map<string, HeldStudy>();
	/** True for a series that is stored, by study and series. */
	readonly #series = new Map<string, boolean>();
	/** Conflicts about objects that are kept aside, by UID and digest. */
	readonly #kept = new Map<string, readonly KeptObject[]>();
	readonly #conflicts = new Map<string, HeldConflict>();
	policy: InstancePolicy = 'keep';
	/** New instances by SOP Instance UID. */
	readonly newInstances = new Map<string, NewInstance>();
	/** Replacements by SOP Instance UID. The replacing instances are among the new instances too. */
	readonly replacements = new Map<string, Replacement>();
	readonly newConflicts: Conflict[] = [];
	readonly settledConflicts: SettledConflict[] = [];
	/** Decisions about the patients of studies, by Study Instance UID. */
	readonly assigned = new Map<string, AssignedStudy>();
	/** Studies without a patient that the patients of a merge may have. */
	readonly unmatched: UnmatchedStudy[] = [];

	constructor(rows: HeldRows) {
		this.#rows = rows;
	}

	addStoredInstance(held: HeldInstance): void {
		this.#instances.set(held.sopInstanceUid, held);
	}

	addStoredSeries(study: HeldStudy, seriesUid: string | null): void {
		this.addStoredStudy(study);
		if (seriesUid !== null) this.#series.set(`${study.studyUid}/${seriesUid}`, true);
	}

	addStoredStudy(study: HeldStudy): void {
		this.#studies.set(study.studyUid, study);
	}

	addStoredKept(sopInstanceUid: string, digest: string, kept: KeptObject): void {
		const key = `${sopInstanceUid}/${digest}`;
		this.#kept.set(key, [...(this.#kept.get(key) ?? []), kept]);
	}

	addStoredConflict(id: string, conflict: HeldConflict): void {
		this.#conflicts.set(id, conflict);
	}

	addUnmatched(unmatched: UnmatchedStudy): void {
		this.addStoredStudy(unmatched.study);
		this.unmatched.push(unmatched);
	}

	/** Returns every study that was read and has no patient. */
	withoutPatient(): HeldStudy[] {
		return [...this.#studies.values()].filter(({ patientId, instanceCount }) => patientId === null && instanceCount > 0);
	}

	/** Returns the studies with an accession number. */
	studiesOf(accessionNumber: string): HeldStudy[] {
		return [...this.#studies.values()].filter((study) => study.accessionNumber === accessionNumber && study.instanceCount > 0);
	}

	/** Returns the conflicts about objects with this content that are kept aside. */
	kept(sopInstanceUid: string, digest: string): readonly KeptObject[] {
		return this.#kept.get(`${sopInstanceUid}/${digest}`) ?? [];
	}

	conflict(id: string): HeldConflict | undefined {
		return this.#conflicts.get(id);
	}

	instance(sopInstanceUid: string): HeldInstance | undefined {
		return this.#instances.get(sopInstanceUid);
	}

	study(studyUid: string): HeldStudy | undefined {
		const study = this.#studies.get(studyUid);
		return study?.instanceCount === 0 ? undefined : study;
	}

	/**
	 * Like `study`, but also returns a study that this batch emptied. If it gets an instance before the batch is written, it remains the
	 * same
	 * study.
	 */
	lastKnownStudy(studyUid: string): HeldStudy | undefined {
		return this.#studies.get(studyUid);
	}

	/** Tells whether the study and series of an instance have rows. */
	storedOf({ instance: { attributes: uids } }: NewInstance): { isKnownStudy: boolean; isKnownSeries: boolean } {
		const isKnownSeries = this.#series.get(`${uids.studyUid}/${uids.seriesUid}`) === true;
		return { isKnownStudy: this.#studies.get(uids.studyUid)?.isStored === true, isKnownSeries };
	}

	hasSeries(studyUid: string, seriesUid: string): boolean {
		return this.#series.has(`${studyUid}/${seriesUid}`);
	}

	putInstance(added: NewInstance): void {
		const { attributes, digest, bytes, objectKey, callingAe, source } = added.instance;
		const { studyUid, seriesUid, sopInstanceUid } = attributes;
		const { statedStudyUid } = added;
		const held: HeldInstance = {
			sopInstanceUid,
			studyUid,
			...(statedStudyUid !== undefined && { statedStudyUid }),
			digest,
			bytes,
			objectKey,
			callingAe,
			source,
			storedAt: undefined,
		};
		this.#put(this.#instances, sopInstanceUid, held);
		this.#countStudy(this.#studies.get(studyUid) ?? beganStudy(added), 1);
		if (!this.hasSeries(studyUid, seriesUid)) this.#put(this.#series, `${studyUid}/${seriesUid}`, false);
		this.#put(this.newInstances, sopInstanceUid, added);
	}

	/** Replaces an instance. The object that its UID named before, from this batch or not, is no longer the instance. */
	replaceInstance(replacement: Replacement): void {
		const { added, studyUids, patientId, isLastWord } = replacement;
		const { sopInstanceUid, studyUid } = added.instance.attributes;
		const earlier = this.replacements.get(sopInstanceUid);
		const left = this.#studies.get(this.#instances.get(sopInstanceUid)?.studyUid ?? '');
		if (left) this.#countStudy(left, -1);
		this.putInstance(added);
		const study = this.#studies.get(studyUid);
		if (study && (isLastWord || study.instanceCount === 1)) {
			const { id, instanceCount, isStored, stated, formerPatientIds } = study;
			this.#put(this.#studies, studyUid, { ...beganStudy(added), id, patientId, instanceCount, isStored, stated, formerPatientIds });
		}
		this.#put(this.replacements, sopInstanceUid, { ...replacement, studyUids: [...(earlier?.studyUids ?? []), ...studyUids] });
	}

	/** Decides whose a study is. */
	assignStudy(
		study: HeldStudy,
		patientId: string | null,
		formerPatientIds: readonly string[],
		recordedPatientId: string | null = null,
	): void {
		this.#assign({ ...study, patientId, formerPatientIds }, recordedPatientId);
	}

	/** Notes what the images of a study without a patient state. */
	stateStudy(study: HeldStudy, stated: StatedPatient | StatedPerson): void {
		this.#assign({ ...study, stated });
	}

	#assign(study: HeldStudy, recordedPatientId: string | null = null): void {
		const { studyUid, patientId, stated, formerPatientIds = [] } = study;
		this.#put(this.#studies, studyUid, study);
		this.#put(this.assigned, studyUid, { studyUid, patientId, stated, formerPatientIds, recordedPatientId });
	}

	putConflict(conflict: Conflict): void {
		this.#rows.undo.push(this.newConflicts, conflict);
		const { id, objectKey, settlement } = conflict;
		const key = `${conflict.sopInstanceUid}/${conflict.digest}`;
		this.#put(this.#kept, key, [...(this.#kept.get(key) ?? []), { id, objectKey, isSettled: settlement !== undefined }]);
	}

	settleConflict(settled: SettledConflict): void {
		this.#rows.undo.push(this.settledConflicts, settled);
		const held = this.#conflicts.get(settled.conflictId);
		if (held) this.#put(this.#conflicts, settled.conflictId, { ...held, isSettled: true });
	}

	#countStudy(study: HeldStudy, difference: number): void {
		this.#put(this.#studies, study.studyUid, { ...study, instanceCount: study.instanceCount + difference });
	}

	#put<K, V>(map: Map<K, V>, key: K, value: V): void {
		this.#rows.undo.put(map, key, value);
	}
}

export const imaging: Holding<ImagingKeys, Imaging> = {
	name: 'imaging',
	keys: () => ({
		instances: new Map(),
		conflictIds: new Set(),
		studyUids: new Set(),
		arrivingStudies: new Map(),
		accessionNumbers: new Set(),
		foreign: [],
		relinked: new Set(),
		steps: new Set(),
		mayMatch: false,
	}),
	held: (rows) => new Imaging(rows),
};

/** Names the keys that must be read for an instance. */
export function nameInstance(keys: ImagingKeys, { attributes, digest, isForeign }: StoredInstance): void {
	const { sopInstanceUid, studyUid, study } = attributes;
	const digests = keys.instances.get(sopInstanceUid);
	if (digests) digests.add(digest);
	else keys.instances.set(sopInstanceUid, new Set([digest]));
	keys.studyUids.add(studyUid);
	if (isForeign) keys.foreign.push([sopInstanceUid, digest]);
	// The study has the attributes that its first instance states.
	if (!keys.arrivingStudies.has(studyUid)) keys.arrivingStudies.set(studyUid, study.accessionNumber);
}

/** Names the studies of a report or document. A UID identifies a study whatever the numbers are. */
export function nameStudies(keys: ImagingKeys, { uid, accession, filler }: StudyNames): void {
	if (uid !== undefined) keys.studyUids.add(uid);
	else for (const number of [accession, filler]) if (number !== undefined) keys.accessionNumbers.add(number);
}

/** Returns the SOP Instance UIDs under which different content came, with its digests. */
export function disputed({ instances }: ImagingKeys, held: Imaging): [uid: string, digests: ReadonlySet<string>][] {
	return [...instances].filter(([uid, digests]) => {
		const instance = held.instance(uid);
		return digests.size > 1 || (instance !== undefined && !digests.has(instance.digest));
	});
}

/** Returns the studies of the instances that different content may replace. */
export function studiesOfDisputed(keys: ImagingKeys, held: Imaging): string[] {
	const studies = disputed(keys, held).map(([uid]) => held.instance(uid)?.studyUid);
	return [...new Set(studies.filter((uid) => uid !== undefined))];
}
