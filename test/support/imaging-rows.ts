import type pg from 'pg';
import { newId } from '#core/id.ts';
import type { InstanceAttributes } from '#record/instance.ts';
import {
	insertInstances,
	instanceParameters,
	type SiteInstance,
	seriesOf,
	seriesParameters,
	studiesOf,
	studyParameters,
	upsertSeries,
	upsertStudies,
} from '#storage/statements/write-imaging.ts';

/** An instance as a test states it. */
export interface GivenInstance {
	uid: string;
	seriesUid: string;
	studyUid: string;
	/** Row id. */
	patientId: string | null;
	sopClassUid?: string;
	study?: Partial<InstanceAttributes['study']>;
	series?: Partial<InstanceAttributes['series']>;
	number?: number;
}

function siteInstance(siteId: string, given: GivenInstance, isNewStudy: boolean, isNewSeries: boolean): SiteInstance {
	const empty = {
		started: undefined,
		accessionNumber: undefined,
		accessionIssuer: undefined,
		studyId: undefined,
		description: undefined,
		referringPhysician: undefined,
		modality: undefined,
		number: undefined,
		bodyPart: undefined,
		station: undefined,
	};
	const attributes: InstanceAttributes = {
		sopClassUid: given.sopClassUid ?? '1.2.840.10008.5.1.4.1.1.2',
		sopInstanceUid: given.uid,
		studyUid: given.studyUid,
		seriesUid: given.seriesUid,
		transferSyntaxUid: '1.2.840.10008.1.2.1',
		patient: { id: undefined, issuer: undefined, name: undefined, birthDate: undefined, gender: undefined },
		study: { ...empty, ...given.study },
		series: { ...empty, ...given.series },
		number: given.number,
		rows: 512,
		columns: 256,
		frames: undefined,
	};
	const instance = { attributes, digest: given.uid, bytes: 1000, objectKey: `key ${given.uid}`, callingAe: 'CT', source: '127.0.0.1' };
	return {
		siteId,
		isKnownStudy: false,
		isKnownSeries: false,
		added: { instance, patientId: given.patientId, studyId: newId(), isNewStudy, isNewSeries },
	};
}

/** Puts instances into the index of a site with the statements of a batch. */
export async function insertImaging(client: pg.ClientBase, siteId: string, given: readonly GivenInstance[]): Promise<void> {
	const seen = new Set<string>();
	const isNew = (key: string) => !seen.has(key) && seen.add(key) !== undefined;
	const rows = given.map((instance) => siteInstance(siteId, instance, isNew(instance.studyUid), isNew(instance.seriesUid)));
	const now = '2026-01-02T03:04:05Z';
	await client.query(insertInstances.text, instanceParameters(rows, now));
	await client.query(upsertSeries.text, seriesParameters(seriesOf(rows).begun));
	await client.query(upsertStudies.text, studyParameters(studiesOf(rows).begun, now));
}
