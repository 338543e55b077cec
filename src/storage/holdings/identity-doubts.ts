import { identityDoubts, type RecordedDoubt, type SettledDoubts } from '#record/holdings/identity-doubts.ts';
import { plainArray, type Statement, textArray } from '../statement.ts';
import type { StoredHolding } from '../stored-holding.ts';

/**
 * Inserts doubts, or counts those that are there. A doubt that a person dismissed stays dismissed; one that was mended and comes again is
 * open again.
 */
const insertDoubts: Statement = {
	name: 'insert_identity_doubts',
	text: `
insert into identity_doubt as d (site_id, id, kind, key, patient_id, other_patient_id, study_uid, text, count,
	first_message_id, first_surface, first_at, last_message_id, last_surface, last_at)
select k.site_id, k.id, k.kind, k.key, k.patient_id, k.other_patient_id, k.study_uid, k.text, k.count,
	k.first_message_id, k.first_surface, k.first_at, k.last_message_id, k.last_surface, k.last_at
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::integer[],
	$10::uuid[], $11::text[], $12::timestamptz[], $13::uuid[], $14::text[], $15::timestamptz[])
	as k (site_id, id, kind, key, patient_id, other_patient_id, study_uid, text, count,
	first_message_id, first_surface, first_at, last_message_id, last_surface, last_at)
on conflict (site_id, key) do update set
	count = d.count + excluded.count, text = excluded.text, patient_id = excluded.patient_id,
	other_patient_id = excluded.other_patient_id, study_uid = excluded.study_uid,
	last_message_id = excluded.last_message_id, last_surface = excluded.last_surface, last_at = excluded.last_at,
	settled_at = case when d.settled_how = 'dismissed' then d.settled_at end,
	settled_by = case when d.settled_how = 'dismissed' then d.settled_by end,
	settled_how = case when d.settled_how = 'dismissed' then d.settled_how end`,
};

/** Settles the open doubts about a study, about two patients, or one of them; an `other-patient` only if no such image is kept aside. */
const settleDoubts: Statement = {
	name: 'settle_identity_doubts',
	text: `
update identity_doubt d set settled_at = k.at, settled_by = k.by, settled_how = k.how
from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[], $8::uuid[], $9::text[], $10::text[],
	$11::text[]) as k (site_id, study_uid, patient_id, other_patient_id, at, by, how, key, aside_study, aside_id, aside_system)
where d.site_id = k.site_id and d.settled_at is null
	and (d.key = k.key or d.study_uid = k.study_uid
		or (d.patient_id = k.patient_id and d.other_patient_id = k.other_patient_id)
		or (d.patient_id = k.other_patient_id and d.other_patient_id = k.patient_id))
	and (k.aside_study is null or not exists (
		select from imaging_conflict c
		where c.site_id = k.site_id and c.study_uid = k.aside_study and c.kind = 'other-patient' and c.settled_at is null
			and c.stated_patient_id = k.aside_id
			and c.stated_patient_system = any (k.aside_system || authority_systems(k.site_id, array[k.aside_system]))))`,
};

type OfSite<T> = T & { readonly siteId: string };

function doubtParameters(rows: readonly OfSite<RecordedDoubt>[]): unknown[] {
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		plainArray(rows.map(({ id }) => id)),
		textArray(rows.map(({ kind }) => kind)),
		plainArray(rows.map(({ key }) => key)),
		plainArray(rows.map(({ patientId }) => patientId)),
		plainArray(rows.map(({ otherPatientId }) => otherPatientId)),
		textArray(rows.map(({ studyUid }) => studyUid)),
		textArray(rows.map(({ text }) => text)),
		plainArray(rows.map(({ count }) => count)),
		plainArray(rows.map(({ first }) => first.messageId)),
		textArray(rows.map(({ first }) => first.surface)),
		plainArray(rows.map(({ first }) => first.at)),
		plainArray(rows.map(({ last }) => last.messageId)),
		textArray(rows.map(({ last }) => last.surface)),
		plainArray(rows.map(({ last }) => last.at)),
	];
}

function settledParameters(rows: readonly OfSite<SettledDoubts>[]): unknown[] {
	return [
		plainArray(rows.map(({ siteId }) => siteId)),
		textArray(rows.map(({ studyUid }) => studyUid)),
		plainArray(rows.map(({ patientId }) => patientId)),
		plainArray(rows.map(({ otherPatientId }) => otherPatientId)),
		plainArray(rows.map(({ at }) => at)),
		textArray(rows.map(({ by }) => by)),
		textArray(rows.map(({ how }) => how)),
		plainArray(rows.map(({ key }) => key)),
		textArray(rows.map(({ unlessAside }) => unlessAside?.studyUid ?? null)),
		textArray(rows.map(({ unlessAside }) => unlessAside?.id ?? null)),
		textArray(rows.map(({ unlessAside }) => unlessAside?.system ?? null)),
	];
}

/** Writes doubts about patients. A batch without doubts sends nothing. */
export function storedIdentityDoubts(): StoredHolding {
	return {
		write(writing) {
			const doubts = writing.of(identityDoubts, ({ recorded }, siteId) => [...recorded.values()].map((doubt) => ({ ...doubt, siteId })));
			if (doubts.length > 0) writing.send(insertDoubts, doubtParameters(doubts));
			const settled = writing.of(identityDoubts, (held, siteId) => held.settled.map((mended) => ({ ...mended, siteId })));
			if (settled.length > 0) writing.send(settleDoubts, settledParameters(settled));
		},
	};
}
