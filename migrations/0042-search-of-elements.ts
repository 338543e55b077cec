import { Migration } from '@mikro-orm/migrations';

/**
 * Searches of all types need dates that are read from the resource itself, and an index of the few rows that have something in `meta`.
 *
 * Locks: writes of a table wait while its index is built, a moment for a million rows, as rows without `meta` are not in it.
 */
export class SearchOfElements extends Migration {
	override up(): void {
		this.addSql(dates);
		for (const table of tables) this.addSql(`create index ${table}_meta on ${table} (site_id, id) where meta is not null;`);
	}
}

const tables = [
	'patient',
	'encounter',
	'observation',
	'condition',
	'allergy_intolerance',
	'procedure',
	'document_reference',
	'diagnostic_report',
];

const dates = String.raw`
-- The moments that a date, dateTime, instant or Period spans, as src/core/date-range.ts tells them; null for anything else.
create function tributary_date_range(value jsonb) returns tstzrange language plpgsql immutable strict parallel safe as $function$
declare
	given text := value #>> '{}';
	begins timestamptz;
	lasts interval;
	first tstzrange;
	last tstzrange;
begin
	if jsonb_typeof(value) = 'object' then
		first := tributary_date_range(value -> 'start');
		last := tributary_date_range(value -> 'end');
		if first is null and last is null then return null; end if;
		return tstzrange(lower(first), upper(last));
	end if;
	if jsonb_typeof(value) <> 'string' then return null; end if;
	if given ~ '^\d{4}(-\d\d(-\d\d)?)?$' then
		lasts := case length(given) when 4 then interval '1 year' when 7 then interval '1 month' else interval '1 day' end;
		begins := (given || right('-01-01', 10 - length(given)))::timestamp at time zone 'UTC';
		return tstzrange(begins, ((begins at time zone 'UTC') + lasts) at time zone 'UTC');
	end if;
	if given !~ '^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$' then return null; end if;
	begins := given::timestamptz;
	lasts := case when given ~ '\.' then interval '1 millisecond' when given ~ 'T\d\d:\d\d:\d\d' then interval '1 second' else interval '1 minute' end;
	return tstzrange(begins, begins + lasts);
exception when data_exception then
	return null;
end
$function$;
`;
