import { nilIdSql, type Statement } from '../../statement.ts';

/** The filters of the message log; an undefined one does not apply. */
export interface MessageFilters {
	/** Slugs of sites; undefined means all. */
	sites: readonly string[] | undefined;
	outcome?: string | undefined;
	/** The message has one of these types, as the log writes them; see `typesLike`. */
	messageTypes?: readonly string[] | undefined;
	kind?: string | undefined;
	surface?: string | undefined;
	clientId?: string | undefined;
	/** The control id is one of these; see `controlsLike`. */
	controlIds?: readonly string[] | undefined;
	/** Values of business identifiers; the message is about one of them. */
	patients?: readonly string[] | undefined;
	/** See `causeOf`. */
	cause?: string | undefined;
	sinceMs?: number | undefined;
	untilMs?: number | undefined;
	/** The id of the last message of the previous page. */
	before?: string | undefined;
	limit: number;
}

/** The longest time between the receipt of a message and its logging; its id holds the time at which its site's turn was requested. */
export const idLagMs = 3_600_000;

/** The first UUID (version 7) of a moment. */
export function firstIdOf(epochMs: number): string {
	const hex = Math.min(Math.max(Math.trunc(epochMs), 0), 2 ** 48 - 1)
		.toString(16)
		.padStart(12, '0');
	return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/**
 * Returns the common part of refused messages: surface, type, code, and the text without quoted parts and without numbers, except those of
 * fields and events.
 */
export const shapeOf = (m: string) =>
	`regexp_replace(coalesce(${m}.failure, ''), '''[^'']*''|"[^"]*"|(?<![-A-Za-z^_.0-9])[0-9][0-9.]*', '…', 'g')`;

/** A replay counts under the surface by which its message came first. */
export const firstSurfaceOf = (m: string) => `case when ${m}.surface <> 'replay' then ${m}.surface else coalesce((
	with recursive origin (surface, replay_of, steps) as (
		select b.surface, b.replay_of, 1 from message_log b where b.site_id = ${m}.site_id and b.id = ${m}.replay_of
		union all
		select b.surface, b.replay_of, o.steps + 1
		from origin o join message_log b on b.site_id = ${m}.site_id and b.id = o.replay_of
		where o.surface = 'replay' and o.steps < 100
	)
	select o.surface from origin o where o.surface <> 'replay' order by o.steps limit 1), 'replay') end`;

export const causeOf = (m: string) =>
	`md5(concat_ws(chr(31), ${firstSurfaceOf(m)}, ${m}.message_type, coalesce(${m}.failure_code, ''), ${shapeOf(m)}))`;

const columns = `
	m.id, s.slug as site, m.received_at, m.committed_at, m.kind, m.surface, m.client_id, c.name as client, nullif(y.label, '') as key_label,
	m.source, m.message_type, m.control_id, m.outcome, m.failure_code, m.failure, m.flags, m.sequence, m.replay_of,
	(extract(epoch from m.committed_at - m.received_at) * 1000)::float8 as latency_ms`;

/**
 * Builds the query of a page of the message log, newest first. Each site's part is read from an index that is ordered by message id, so a
 * page
 * costs only what it shows. Further filters are tested on those rows.
 */
export function searchMessages(filters: MessageFilters): { statement: Statement; values: unknown[] } {
	const values: unknown[] = [];
	const add = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
	const sites = filters.sites === undefined ? '' : `where s.slug = any (${add(filters.sites, 'text[]')})`;
	const limit = add(filters.limit, 'integer');
	const conditions = ['m.site_id = s.id', ...conditionsOf(filters, add)];
	const page = (further: readonly string[], from = '') => `
		select m.site_id, m.id from ${from}message_log m
		where ${[...conditions, ...further].join(' and ')}
		order by m.id desc limit ${limit}`;
	const text = `
select ${columns}
from (
	select k.site_id, k.id from site s cross join lateral (${pageOf(filters, add, page)}) k
	${sites}
	order by k.id desc limit ${limit}
) k
join message_log m on m.site_id = k.site_id and m.id = k.id
join site s on s.id = m.site_id
left join integration_client c on c.site_id = m.site_id and c.id = m.client_id
left join api_key y on y.site_id = m.site_id and y.id = m.source and m.client_id = ${nilIdSql}
order by m.id desc`;
	return { statement: { name: 'search_messages', text }, values };
}

type Add = (value: unknown, type: string) => string;

/** @param whole also what `pageOf` looks up one by one */
export function conditionsOf(filters: MessageFilters, add: Add, whole = false): string[] {
	const { outcome, messageTypes, kind, surface, clientId, controlIds, cause, sinceMs, untilMs, before } = filters;
	const conditions: string[] = [];
	if (outcome !== undefined) conditions.push(`m.outcome = ${add(outcome, 'text')}`);
	// The conditions are repeated as constants, so that the planner can use the partial indexes.
	if (outcome !== undefined && outcome !== 'accepted') conditions.push(`m.outcome <> 'accepted'`);
	if (messageTypes !== undefined && (whole || !isByType(filters))) conditions.push(`m.message_type = any (${add(messageTypes, 'text[]')})`);
	if (surface !== undefined) conditions.push(`m.surface = ${add(surface, 'text')}`);
	if (surface !== undefined && surface !== 'mllp') conditions.push(`m.surface <> 'mllp'`);
	if (kind !== undefined) conditions.push(`m.kind = ${add(kind, 'text')}`);
	// MLLP carries HL7 v2 only.
	if (kind !== undefined && kind !== 'hl7v2') conditions.push(`m.surface <> 'mllp'`);
	if (clientId !== undefined) conditions.push(`m.client_id = ${add(clientId, 'uuid')}`, `m.client_id <> ${nilIdSql}`);
	if (controlIds !== undefined && (whole || !isByControl(filters)))
		conditions.push(`m.control_id = any (${add(controlIds, 'text[]')})`, `m.control_id <> ''`);
	if (cause !== undefined) conditions.push(`m.outcome = 'refused'`, `m.outcome <> 'accepted'`, `${causeOf('m')} = ${add(cause, 'text')}`);
	if (sinceMs !== undefined) {
		conditions.push(`m.received_at >= ${add(new Date(sinceMs), 'timestamptz')}`, `m.id >= ${add(firstIdOf(sinceMs), 'uuid')}`);
	}
	if (untilMs !== undefined) {
		conditions.push(`m.received_at < ${add(new Date(untilMs), 'timestamptz')}`, `m.id < ${add(firstIdOf(untilMs + idLagMs), 'uuid')}`);
	}
	if (before !== undefined) conditions.push(`m.id < ${add(before, 'uuid')}`);
	return conditions;
}

/** A control id is rarer than whatever else is asked for. */
const isByControl = ({ patients, controlIds }: MessageFilters) => patients === undefined && controlIds !== undefined;
const isByType = ({ patients, controlIds, messageTypes }: MessageFilters) =>
	patients === undefined && controlIds === undefined && messageTypes !== undefined;

function pageOf(filters: MessageFilters, add: Add, page: (further: readonly string[], from?: string) => string): string {
	const { patients, surface, clientId, controlIds, messageTypes, outcome, cause } = filters;
	if (patients !== undefined) {
		const given = add(patients, 'text[]');
		return `
		select distinct n.site_id, n.id from unnest(${given}) as v (value) cross join lateral (
			(${page(['m.patient = v.value'])})
			union all
			(${page(['m.other_patient = v.value'])})
		) n`;
	}
	if (isByControl(filters)) {
		return `
		select n.site_id, n.id from unnest(${add(controlIds, 'text[]')}) as v (control_id)
		cross join lateral (${page(['m.control_id = v.control_id', `m.control_id <> ''`])}) n`;
	}
	if (isByType(filters)) {
		return `
		select n.site_id, n.id from unnest(${add(messageTypes, 'text[]')}) as v (message_type)
		cross join lateral (${page(['m.message_type = v.message_type'])}) n`;
	}
	const narrowed = clientId ?? cause ?? (outcome === 'accepted' ? undefined : outcome);
	// MLLP is most of the traffic of many sites and has no index of its own, but each sender's messages are in order.
	if (surface === 'mllp' && narrowed === undefined) {
		return `
		select n.site_id, n.id from (${senders}) v cross join lateral (${page([`m.client_id = v.client_id`, `m.client_id <> ${nilIdSql}`])}) n`;
	}
	return page([]);
}

/** Lists the clients that have sent to a site, each found by one index lookup. */
const senders = `
	with recursive sender (client_id) as (
		select (select f.client_id from message_log f where f.site_id = s.id and f.client_id <> ${nilIdSql} order by f.client_id limit 1)
		union all
		select (select f.client_id from message_log f where f.site_id = s.id and f.client_id <> ${nilIdSql} and f.client_id > e.client_id
			order by f.client_id limit 1)
		from sender e where e.client_id is not null
	)
	select e.client_id from sender e where e.client_id is not null`;
