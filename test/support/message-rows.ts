/**
 * A statement that fills the message log of a site: one message each second up to now, numbered; a tenth was refused, and hundred patients
 * take turns. For tests of lists, which need many rows and not how they came.
 */
export function logOf(site: string, messages: number): [text: string, values: unknown[]] {
	return [rows, [site, messages]];
}

const rows = `
insert into message_log (site_id, id, sequence, kind, surface, client_id, source, received_at, committed_at, message_type, control_id, outcome,
	failure_code, failure, patient, bytes, ack)
select s.id, (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000800000000000' || lpad(to_hex(n), 4, '0'))::uuid, n, 'hl7v2', 'mllp',
	c.id, '127.0.0.1', at, at + interval '25 milliseconds', type, 'Msg-' || n, outcome, case when outcome = 'refused' then 'required-missing' end,
	case when outcome = 'refused' then 'PID-3 has no identifier' end, 'P' || n % 100,
	convert_to(E'MSH|^~\\\\&|ADT|NORTH|||20260105||' || type || '|Msg-' || n || E'|P|2.5.1\\rPID|1||P' || n % 100 || '^^^MRN||Smi' || n % 7
		|| E'th^Ada\\rOBX|1|NM|718-7^Hemoglobin^LN||13.2|g/dL\\r', 'UTF8'), ''
from site s join integration_client c on c.site_id = s.id
cross join lateral (
	select n, statement_timestamp() - make_interval(secs => $2::integer - n) as at,
		case when n % 50 = 0 then 'ORM^O01' else 'ADT^A08' end as type, case when n % 10 = 5 then 'refused' else 'accepted' end as outcome
	from generate_series(1, $2::integer) n
) m
where s.slug = $1`;
