import type { SearchPlan } from '#record/search-plan.ts';
import { Parameters, type Query } from './parameters.ts';
import { boundedQuery, innerColumns } from './row-columns.ts';
import { whereOf } from './search-conditions.ts';
import { jsonOf } from './stored-text.ts';

/**
 * Selects the newest observations of each code of each patient or other subject, the newest first, with the codes by which they are grouped. `max` counts the
 * observations of one set of codes; those of the same time as the last one of them are selected too. An observation without a time is older
 * than all others.
 */
export function lastObservationsQuery(siteId: string, { clauses }: Pick<SearchPlan, 'clauses'>, max: number, rowsMax: number): Query {
	const parameters = new Parameters(siteId);
	const most = parameters.add(max, 'integer');
	const limit = parameters.add(rowsMax + 1, 'integer');
	const order = 'm.effective_start desc nulls last, case when m.effective_start is null then m.last_updated end desc';
	const text = `
select m.id, coalesce(m.patient_id::text, m.other), m.code_system, m.code_value, array_to_json(m.code_further)::text, m.code_text,
	case when m.effective_start is null then 'u' || m.last_updated::text else m.effective_start::text end
from (
	select m.*, rank() over (
		partition by m.patient_id, m.other, m.code_system, m.code_value, m.code_further, m.code_text order by ${order}
	) as place
	from (
		select r.id, r.patient_id, r.code_system, r.code_value, r.code_further, r.effective_start, r.last_updated,
			case when r.patient_id is null then ${jsonOf('r.resource')} #>> '{subject,reference}' end as other,
			case when r.code_value is null then ${jsonOf('r.resource')} #>> '{code,text}' end as code_text
		from observation r where ${whereOf(clauses, 'r', parameters)}
	) m
) m
where m.place <= ${most}
order by ${order}, m.id
limit ${limit}`;
	return parameters.query(text, false);
}

/** Selects the observations in the order of the given row ids, up to the one whose text exceeds the bytes. The row id follows the columns. */
export function observationsInOrderQuery(siteId: string, rowIds: readonly string[], bytesMax: number): Query {
	const parameters = new Parameters(siteId);
	const ids = parameters.add(rowIds, 'uuid[]');
	const bytes = parameters.add(bytesMax, 'bigint');
	const inner = `select ${innerColumns('observation')}, k.place from unnest(${ids}) with ordinality as k (id, place) join observation r on r.site_id = $1 and r.id = k.id`;
	const text = boundedQuery({ table: 'observation', further: 'r.id', inner, order: (row) => `${row}.place`, bytesMax: bytes });
	return parameters.query(text, true);
}
