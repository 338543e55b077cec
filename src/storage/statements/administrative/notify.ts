import { nilIdSql, type Statement } from '../../statement.ts';

/** Holds if a person may see what an alert is about: all of the network, or the site. `u` is the account, `a` the alert. */
const maySee = `(u.active and (u.role = 'administrator' or u.all_sites
	or exists (select from site_member m where m.user_id = u.id and m.site_id = a.about_site)))`;

/** Holds if the notification `n`, of the account `u` if it is of a person, still tells of the alert `a`. */
const tells = `(n.active and case
	when n.user_id is not null then ${maySee}
	when n.of_site is not null then n.of_site = a.about_site
	else true end)`;

const instantSql = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Keeps the alerts of a node: new ones begin, and known ones are seen again. Whoever has asked for it is to be told of those that begin. However
 * many nodes say so, an alert of the network begins once. From `$12` on stands who was told of its start already, because the database was away
 * then. An alert that a commit of unknown outcome has kept, and that has ended since, does not come back.
 */
export const noteAlerts: Statement = {
	name: 'note_alerts',
	text: `
with given as (
	select g.*, coalesce(s.id, ${nilIdSql}) as about_site
	from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[])
		as g (id, key, name, severity, summary, list, slug, node, since_ago, started_ago, seen_ago)
	left join site s on s.slug = g.slug
	where not exists (select from alert e where e.id = g.id and e.ended_at is not null)
), sent as (
	select * from unnest($12::uuid[], $13::uuid[], $14::uuid[], $15::text[], $16::integer[], $17::text[], $18::bigint[], $19::bigint[], $20::bigint[])
		as t (alert_id, notification_id, id, state, attempts, fault, next_in, created_ago, done_ago)
), noted as (
	insert into alert as a (id, key, name, severity, summary, list, about_site, node, since, started_at, seen_at)
	select id, key, name, severity, summary, nullif(list, ''), about_site, nullif(node, ''),
		now() - since_ago * interval '1 ms', now() - started_ago * interval '1 ms', now() - seen_ago * interval '1 ms'
	from given order by key
	on conflict (key) where ended_at is null do update set seen_at = greatest(a.seen_at, excluded.seen_at), summary = excluded.summary
	returning a.*
), told as (
	insert into notification_delivery as d (id, notification_id, alert_id, phase, state, attempts, fault, next_at, created_at, done_at)
	select coalesce(t.id, gen_random_uuid()), n.id, a.id, 'start', coalesce(t.state, 'waiting'), coalesce(t.attempts, 0), t.fault,
		now() + coalesce(t.next_in, 0) * interval '1 ms', now() - coalesce(t.created_ago, 0) * interval '1 ms', now() - t.done_ago * interval '1 ms'
	from noted a
	join given g on g.id = a.id
	cross join notification n
	left join app_user u on u.id = n.user_id
	left join sent t on t.alert_id = a.id and t.notification_id = n.id
	where t.id is not null
		or (${tells} and (n.alerts = '{}' or a.name = any (n.alerts)) and a.severity = any (n.severities) and (n.sites = '{}' or a.about_site = any (n.sites)))
	on conflict (alert_id, notification_id, phase) do update
		set id = excluded.id, state = excluded.state, attempts = excluded.attempts, fault = excluded.fault, done_at = excluded.done_at
		where d.state = 'waiting' and d.holder is null and excluded.state <> 'waiting'
	returning id
)
select count(*) from told`,
};

/**
 * Reads who is told of alerts about nodes, for while the database is away: notifications of the network, and of persons who may see all sites.
 * The bound is a thousand recipients.
 */
export const readNodeRecipients: Statement = {
	name: 'read_node_recipients',
	text: `
select n.id, n.by, case when n.by = 'email' and n.user_id is not null then u.email else n.target end, encode(n.secret, 'base64'),
	array_to_string(n.alerts, ','), array_to_string(n.severities, ',')
from notification n
left join app_user u on u.id = n.user_id
where n.active and n.of_site is null and n.sites = '{}' and (n.user_id is null or (u.active and (u.role = 'administrator' or u.all_sites)))
order by n.id
limit 1000`,
};

/** Ends the alerts that no node has seen for `$1` milliseconds. Whoever was told that they began is to be told that they ended. */
export const endAlerts: Statement = {
	name: 'end_alerts',
	text: `
with ended as (
	update alert a set ended_at = now() where a.ended_at is null and a.seen_at < now() - $1::bigint * interval '1 ms' returning a.id
), told as (
	insert into notification_delivery (id, notification_id, alert_id, phase, next_at, created_at)
	select gen_random_uuid(), d.notification_id, d.alert_id, 'end', now(), now()
	from ended join notification_delivery d on d.alert_id = ended.id and d.phase = 'start'
	on conflict do nothing
	returning id
)
select count(*) from told`,
};

/** Reads the active alerts of the network and of its nodes. */
export const readActiveAlerts: Statement = {
	name: 'read_active_alerts',
	text: `
select a.key, a.name, a.severity, a.summary, a.list, s.slug, (extract(epoch from a.since) * 1000)::bigint as since
from alert a left join site s on s.id = a.about_site
where a.ended_at is null`,
};

/**
 * Takes the deliveries that are due, `$2` at most, for `$3` milliseconds: until then no other process sends them. An end waits until its start was
 * sent or given up. Each row says whether its notification still tells of the alert.
 */
export const claimDeliveries: Statement = {
	name: 'claim_notification_deliveries',
	text: `
with due as (
	select d.id
	from notification_delivery d
	where d.state = 'waiting' and d.next_at <= now() and (d.held_until is null or d.held_until < now())
		and (d.phase = 'start' or not exists (
			select from notification_delivery s
			where s.alert_id = d.alert_id and s.notification_id = d.notification_id and s.phase = 'start' and s.state = 'waiting'))
	order by d.next_at
	limit $2
	for update skip locked
), held as (
	update notification_delivery d set holder = $1, held_until = now() + $3::bigint * interval '1 ms', attempts = d.attempts + 1
	from due where d.id = due.id
	returning d.*
)
select d.id, d.phase, d.attempts, n.id as notification, n.by, case when n.by = 'email' and n.user_id is not null then u.email else n.target end as target,
	encode(n.secret, 'base64') as secret, ${tells} as tells, a.id as alert, a.name, a.severity, a.summary, a.list, s.slug, a.node,
	${instantSql('a.since')} as since, ${instantSql('a.ended_at')} as ended
from held d
join notification n on n.id = d.notification_id
join alert a on a.id = d.alert_id
left join app_user u on u.id = n.user_id
left join site s on s.id = a.about_site
order by a.started_at, d.phase desc`,
};

/** Notes what became of a delivery, if this process still holds it: `sent`, `failed`, or `waiting` until `$5` milliseconds from now. */
export const noteDelivery: Statement = {
	name: 'note_notification_delivery',
	text: `
update notification_delivery
set state = $3, fault = $4, next_at = now() + $5::bigint * interval '1 ms', holder = null, held_until = null,
	done_at = case when $3 = 'waiting' then null else now() end
where id = $1 and holder = $2
returning id`,
};

/** Counts the notifications of which the latest delivery failed, or was tried three times and waits; and the deliveries that wait. */
export const countTroubled: Statement = {
	name: 'count_troubled_notifications',
	text: `
select count(*) filter (where d.state = 'failed' or (d.state = 'waiting' and d.attempts >= 3)) as troubled,
	coalesce(sum(w.waiting), 0) as waiting
from notification n
cross join lateral (
	select d.state, d.attempts from notification_delivery d join alert a on a.id = d.alert_id
	where d.notification_id = n.id and a.name <> 'TributaryNotificationsFailed' and d.created_at > now() - interval '1 day'
	order by d.created_at desc limit 1
) d
cross join lateral (select count(*) as waiting from notification_delivery d where d.notification_id = n.id and d.state = 'waiting') w
where n.active`,
};

/** Forgets alerts that ended more than 90 days ago, with what was sent about them. */
export const forgetAlerts: Statement = {
	name: 'forget_alerts',
	text: `delete from alert where ended_at < now() - interval '90 days'`,
};

/** The latest deliveries of a notification. */
export const readDeliveries: Statement = {
	name: 'read_notification_deliveries',
	text: `
select d.id, a.name, a.summary, d.phase, d.state, d.attempts, d.fault, ${instantSql('d.created_at')}, ${instantSql('d.done_at')}, ${instantSql('d.next_at')}
from notification_delivery d join alert a on a.id = d.alert_id
where d.notification_id = $1
order by d.created_at desc, d.id
limit 100`,
};

/** The active alerts of the network, and with `$1` the latest that ended as well. */
export const readRecentAlerts: Statement = {
	name: 'read_recent_alerts',
	text: `
select a.id, a.name, a.severity, a.summary, s.slug, a.node, a.list, ${instantSql('a.since')}, ${instantSql('a.ended_at')}
from alert a left join site s on s.id = a.about_site
where a.ended_at is null or $1::boolean
order by a.started_at desc, a.id
limit 1000`,
};

/** The latest delivery of each notification. */
export const readLatestDeliveries: Statement = {
	name: 'read_latest_notification_deliveries',
	text: `
select n.id, d.state, d.fault, ${instantSql('coalesce(d.done_at, d.created_at)')}
from notification n
cross join lateral (
	select d.state, d.fault, d.done_at, d.created_at from notification_delivery d where d.notification_id = n.id order by d.created_at desc limit 1
) d`,
};
