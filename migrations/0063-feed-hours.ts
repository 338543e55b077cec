import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps what each feed sent in each hour: how many messages, by minute, how many of them were refused, and how long their acknowledgements took.
 * A row of a sender is that of its site; rows of traffic that belongs to no site have the nil id.
 *
 * The last day is carried over from the message log, so that the console shows it after the upgrade. The log does not have accepted FHIR writes
 * and images, nor times of acknowledgement, so those hours do not have them either. What came before that day is not carried over.
 *
 * Unmatched messages get what a person needs to recognise their sender, and what was done with them. MSH-3 and MSH-4 of those that are there
 * are read from their bytes when they are shown.
 *
 * Locks: unmatched_message exclusively, for a moment. Reading a day of the message log takes a few seconds on a busy node.
 */
export class FeedHours extends Migration {
	override up(): void {
		this.addSql(feedHours);
		this.addSql(carriedOver);
		this.addSql(unmatched);
	}
}

const feedHours = `
create table feed_hour (
	site_id uuid not null,
	-- The integration client, the public id of the API key, token:<client>, nearby, or unmatched.
	feed text not null,
	hour timestamptz not null,
	received integer not null,
	refused integer not null,
	last_at timestamptz not null,
	received_by_minute integer[] not null,
	refused_by_minute integer[] not null,
	-- Acknowledgements by the time they took; storage/feeds/counts.ts has the bounds.
	acknowledged integer[] not null,
	primary key (site_id, feed, hour)
);
create index feed_hour_by_hour on feed_hour (site_id, hour);

-- How many messages of a feed wait in the mailboxes of a process, as it last said. A row that is older than some seconds says nothing.
create table feed_queue (
	site_id uuid not null,
	feed text not null,
	process uuid not null,
	waiting integer not null,
	at timestamptz not null,
	primary key (site_id, feed, process)
);

-- Adds arrays of the same length, element by element.
create function array_sum(integer[], integer[]) returns integer[] language sql immutable parallel safe
	return (select array_agg(coalesce(a, 0) + coalesce(b, 0) order by n) from unnest($1, $2) with ordinality as t (a, b, n));

select assume_statistics();
`;

const carriedOver = `
insert into feed_hour (site_id, feed, hour, received, refused, last_at, received_by_minute, refused_by_minute, acknowledged)
select m.site_id, m.feed, m.hour, sum(m.received), sum(m.refused), max(m.last_at),
	array(select coalesce(sum(x.n), 0)::integer from generate_series(0, 59) g left join unnest(array_agg(m.minute), array_agg(m.received)) as x (minute, n) on x.minute = g group by g order by g),
	array(select coalesce(sum(x.n), 0)::integer from generate_series(0, 59) g left join unnest(array_agg(m.minute), array_agg(m.refused)) as x (minute, n) on x.minute = g group by g order by g),
	array_fill(0, array[15])
from (
	select l.site_id, case when l.client_id = '00000000-0000-0000-0000-000000000000' then case when l.surface = 'dimse' then 'nearby' else l.source end else l.client_id::text end as feed,
		date_trunc('hour', l.received_at, 'UTC') as hour, extract(minute from l.received_at at time zone 'UTC')::integer as minute,
		count(*)::integer as received, (count(*) filter (where l.outcome = 'refused'))::integer as refused, max(l.received_at) as last_at
	from site s
	-- An id begins with the milliseconds of the receipt.
	join message_log l on l.site_id = s.id and l.id >= (lpad(to_hex((extract(epoch from now() - interval '1 day') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
	where l.surface not in ('replay', 'administration')
	group by 1, 2, 3, 4
) m
group by m.site_id, m.feed, m.hour;
`;

const unmatched = `
alter table unmatched_message
	-- The only site whose clients have this address, or whose AE title was called; null where there is none, or several.
	add column site_id uuid,
	add column sending_application text,
	add column sending_facility text,
	add column called_ae text,
	add column calling_ae text,
	add column replayed_at timestamptz,
	add column replayed_as uuid;
create index unmatched_message_site on unmatched_message (site_id, id);
`;
