import { Migration } from '@mikro-orm/migrations';

/**
 * The message log keeps the kind of delivery that a message is. The messages that are there get theirs once, by their surface and type.
 * Locks: message_log takes no rows and no reads for a moment, while the column is added; then its rows that did not come by MLLP and are
 * not HL7 v2 are locked while they are written again. HL7 v2 rewrites nothing. A node of an earlier version that still runs logs no kind:
 * such a message is shown, and not replayed.
 */
export class MessageKind extends Migration {
	override up(): void {
		this.addSql(kind);
	}
}

const kind = `
-- The default is that of the rows that are there: most of them are HL7 v2.
alter table message_log add column kind text default 'hl7v2';
alter table message_log alter column kind drop default;
with named as (
	select m.site_id, m.id, case
		when m.message_type like 'MPPS%' and m.surface <> 'hl7-http' then 'mpps'
		when m.message_type ~ '^(HL7v3|CDA( .*)?|[A-Z]{4}_[A-Z]{2}[0-9]{6}[A-Z]{2}[0-9]{2})$' then 'hl7v3'
		when m.surface = 'hl7-http' then 'hl7v2'
		when m.surface = 'fhir' or m.message_type ~ '^(POST|PUT|PATCH) ' then 'fhir'
		when m.message_type = 'C-STORE' then 'instance'
		when m.message_type = 'conflict settle' then 'conflict'
		when m.surface = 'administration' then 'identity'
		else 'hl7v2'
	end as kind
	from message_log m
	where m.surface <> 'mllp'
)
update message_log m set kind = named.kind
from named
where m.site_id = named.site_id and m.id = named.id and named.kind <> 'hl7v2';
`;
