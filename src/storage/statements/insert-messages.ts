import type { Statement } from '../statement.ts';

/** The batch's rows of the message log. A retried batch may meet its own rows only if its first COMMIT had happened. */
export const insertMessages: Statement = {
	name: 'insert_messages',
	text: `
insert into message_log (site_id, id, sequence, kind, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome,
	failure_code, failure, flags, changed, replay_of, patient, other_patient, bytes, ack, settings)
select k.site_id, k.id, k.sequence, k.kind, k.surface, k.client_id, k.source, k.received_at, k.committed_at, k.message_type, k.control_id,
	k.outcome, k.failure_code, k.failure, k.flags::jsonb, k.changed::jsonb, k.replay_of, k.patient, k.other_patient,
	substring($24::bytea from k.bytes_start for k.bytes_length), substring($25::bytea from k.ack_start for k.ack_length),
	k.settings::jsonb
from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::uuid[], $7::text[], $8::timestamptz[], $9::timestamptz[],
	$10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::uuid[], $18::text[], $19::text[],
	$20::integer[], $21::integer[], $22::integer[], $23::integer[], $26::text[])
	as k (site_id, id, sequence, kind, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome, failure_code,
		failure, flags, changed, replay_of, patient, other_patient, bytes_start, bytes_length, ack_start, ack_length, settings)
on conflict (site_id, id) do nothing`,
};

/** Inserts the rows by which a redelivery is recognised, so that a message is applied once. */
export const insertAccepted: Statement = {
	name: 'insert_accepted',
	text: `
insert into accepted_message (site_id, client_id, control_id, digest, message_id, accepted_at)
select k.site_id, k.client_id, k.control_id, k.digest, k.message_id, k.accepted_at
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::timestamptz[]) as k (site_id, client_id, control_id, digest, message_id, accepted_at)
on conflict do nothing`,
};
