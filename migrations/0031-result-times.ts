import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps when the message was made that stated a result or a report (MSH-7), so that a late one does not undo a newer one, and which reports
 * a person began here. Results that are there get no time: their messages may be gone from the log. They are compared by OBX-14 and OBR-22
 * alone. A report whose first version is not kept counts as one that came with a message.
 *
 * Locks: `add column` takes an exclusive lock for a moment and rewrites nothing; then the reports that people began are locked while they are
 * written again.
 */
export class ResultTimes extends Migration {
	override up(): void {
		this.addSql(columns);
		this.addSql(origins);
	}
}

const columns = `
alter table observation add column sent_at text;
alter table diagnostic_report add column sent_at text;
alter table diagnostic_report add column origin text;
`;

const origins = `
update diagnostic_report r set origin = 'person'
where r.order_key is null and r.study_uid is not null and 'urn:tributary:administration:report' = case
	when r.version = 1 then r.source
	else (select h.source from resource_history h
		where h.site_id = r.site_id and h.resource_type = 'DiagnosticReport' and h.id = r.id and h.version = 1)
end;
`;
