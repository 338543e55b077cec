import type { Statement } from '../../statement.ts';
import { sitesOf } from './alike.ts';
import { associationFits, conditionsOfPart, placesOf, type TrailPart, them } from './list-audit.ts';
import { conditionsOf, type MessageFilters } from './search-messages.ts';

/** In one part of a histogram, this many rows of a site are counted at most. */
export const countedMax = 10_000;

/** One row for each part of the time: its bounds as the first ids of two moments, or as the moments. */
const parts = (type: string) => `unnest($1::${type}[], $2::${type}[]) with ordinality as b (low, high, part)`;

/**
 * Builds the count of messages for each part of the time, in all and refused. Each part of a site is one range of an index, and ends after
 * `countedMax` rows.
 */
export function messageHistogram(
	filters: MessageFilters,
	lows: readonly string[],
	highs: readonly string[],
): { text: string; values: unknown[] } {
	const values: unknown[] = [lows, highs];
	const add = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
	const sites = filters.sites === undefined ? '' : `where s.slug = any (${add(filters.sites, 'text[]')})`;
	const counted = (further: string, from: string, value: string) => `
	select count(*)::integer as counted from (
		select 1 from ${from}message_log m
		where ${['m.site_id = s.id', 'm.id >= b.low', 'm.id < b.high', ...conditionsOf(filters, add, true), value, further].filter((text) => text !== '').join(' and ')}
		limit ${countedMax}
	) c`;
	const patients = filters.patients === undefined ? undefined : add(filters.patients, 'text[]');
	const page = (further: string) =>
		patients === undefined
			? counted(further, '', '')
			: counted(further, '', `(m.patient = any (${patients}) or m.other_patient = any (${patients}))`);
	const refused = filters.outcome === undefined ? page(`m.outcome = 'refused' and m.outcome <> 'accepted'`) : 'select 0 as counted';
	const text = `
select b.part::integer as part, sum(a.counted)::integer as count, sum(r.counted)::integer as failed, bool_or(a.counted >= ${countedMax}) as more
from ${parts('uuid')}
cross join (select s.id from site s ${sites}) s
cross join lateral (${page('')}) a
cross join lateral (${refused}) r
group by b.part`;
	return { text, values };
}

/**
 * Counts audit events for each part of the time, among the first `countedMax` of each part of a site: `$3` the sites, `$4` who acted, `$5` an
 * action or its noun, `$6` the row id of a patient, `$7` and `$8` those of `associationFits`.
 */
export function auditHistogram(part: TrailPart): Pick<Statement, 'text'> {
	const first = (of: string) => `
		select e.actor, e.action, e.subject, e.patients, e.detail from audit_event e
		where ${of} and e.id >= b.low and e.id < b.high${part === undefined ? '' : ` and ${conditionsOfPart[part]}`} limit ${countedMax}`;
	const counted = (of: string) => `
	select count(*) filter (where c.is_asked)::integer as counted,
		count(*) filter (where c.is_asked and c.failed)::integer as failed, count(*) >= ${countedMax} as more
	from (
		select ($4::text[] is null or e.actor = any ($4)) and ($5::text is null or e.action = $5 or starts_with(e.action, $5 || '.'))
			and ($6::uuid is null or coalesce(e.patients && array(select id from them), false)) and ${associationFits('$7', '$8')} as is_asked,
			${part === 'associations' ? `(e.detail ->> 'failed')::integer > 0` : `e.action like '%.refused' or e.action like '%failed'`} as failed
		from (${first(of)}) e
	) c`;
	const ofEach = (places: string) => `select c.* from (${places}) w (id) cross join lateral (${counted('e.site_id = w.id')}) c`;
	const anywhere = `(${counted('$3::uuid[] is null')})
	union all
	(${ofEach('select unnest($3::uuid[])')})`;
	return {
		text: `${them('$6')}
select b.part::integer as part, coalesce(sum(c.counted), 0)::integer as count, coalesce(sum(c.failed), 0)::integer as failed,
	coalesce(bool_or(c.more), false) as more
from ${parts('uuid')}
cross join lateral (
	${part === undefined ? anywhere : ofEach(placesOf('$3'))}
) c
group by b.part`,
	};
}

/** Counts studies by the moment at which they began. `$3`: sites. */
export const studyHistogram: Pick<Statement, 'text'> = {
	text: `
select b.part::integer as part, sum(c.counted)::integer as count, 0 as failed, bool_or(c.counted >= ${countedMax}) as more
from ${parts('timestamptz')}
cross join (${sitesOf.replaceAll('$1', '$3')}) s
cross join lateral (
	select count(*)::integer as counted from (
		select 1 from imaging_study t where t.site_id = s.id and t.started_start >= b.low and t.started_start < b.high limit ${countedMax}
	) c
) c
group by b.part`,
};

/** Counts messages that belong to no site. */
export const unmatchedHistogram: Pick<Statement, 'text'> = {
	text: `
select b.part::integer as part, c.counted as count, c.counted as failed, c.counted >= ${countedMax} as more
from ${parts('uuid')}
cross join lateral (
	select count(*)::integer as counted from (select 1 from unmatched_message u where u.id >= b.low and u.id < b.high limit ${countedMax}) c
) c`,
};
