import { Migration } from '@mikro-orm/migrations';

/**
 * An index of what searches look for in elements of resources, beside the resources: the terms of each (src/record/search-term.ts). It is
 * filled after the commit (src/storage/search-index.ts), so no write waits for it. `search_progress` says how far: every resource of the type
 * that was last written before `until` has its entry, and a search reads the others themselves. So it does not matter which release wrote a
 * resource. What is stored already is taken in like that too, from the oldest on; until it is, a search reads it as before.
 *
 * Locks: none on a table that is in use.
 */
export class SearchEntries extends Migration {
	override up(): void {
		this.addSql(tables);
		this.addSql(functions);
	}
}

const tables = `
create table search_entry (
	site_id uuid not null,
	resource_type text not null,
	id uuid not null,
	terms bigint[] not null,
	primary key (site_id, resource_type, id)
);
-- Nobody waits while it is written, and a search must not read a list of what is pending.
create index search_entry_terms on search_entry using gin (site_id, terms) with (fastupdate = off);

create table search_progress (
	site_id uuid not null,
	resource_type text not null,
	until timestamptz not null default '-infinity',
	-- The last one that was taken in of those that were written at this moment.
	until_id uuid not null default '00000000-0000-0000-0000-000000000000',
	-- What is looked for in the type, as a digest. Where it changes, the type begins anew.
	definition text not null,
	primary key (site_id, resource_type)
);
`;

const functions = String.raw`
-- The text of the term of a reference: the row that it names, or the text itself (src/fhir/generated-values.ts, referenceTerm).
create function tributary_reference_text(scope text, reference text) returns text language sql immutable strict parallel safe
return (
	select case when m.parts is null then scope || E'\x01u' || reference
		else scope || E'\x01r' || m.parts[1] || '/' || tributary_row_id(m.parts[2])::text end
	from (select regexp_match(reference, '^([A-Z][A-Za-z]{1,63})/([A-Za-z0-9.-]{1,64})(?:/_history/[^/]+)?$')) m (parts)
);

-- The texts of the terms of a range of time: year, month and day of its start, and of its end if that is another day.
create function tributary_range_texts(scope text, starts timestamptz, ends timestamptz) returns setof text language sql immutable parallel safe
begin atomic
	select scope || E'\x01d' || n.name from (
		select starts at time zone 'UTC' as first, ends at time zone 'UTC' as last
	) t cross join lateral (
		select 'o' where starts is null or t.first < '1900-01-01'
		union all select 'f' where t.first >= '2100-01-01'
		union all select 'O' where ends is null or t.last >= '2100-01-01'
		union all select unnest(array['y' || to_char(t.first, 'YYYY'), 'm' || to_char(t.first, 'YYYY-MM'), 'd' || to_char(t.first, 'YYYY-MM-DD')])
			where t.first >= '1900-01-01' and t.first < '2100-01-01'
		-- A stored range may end before it starts.
		union all select unnest(array['y' || to_char(t.last, 'YYYY'), 'm' || to_char(t.last, 'YYYY-MM'), 'd' || to_char(t.last, 'YYYY-MM-DD')])
			where t.last < t.first and t.last >= '1900-01-01'
		union all select 'o' where t.last < t.first and t.last < '1900-01-01'
		union all select unnest(array['Y' || to_char(t.last, 'YYYY'), 'M' || to_char(t.last, 'YYYY-MM'), 'D' || to_char(t.last, 'YYYY-MM-DD')])
			where t.last >= '1900-01-01' and t.last < '2100-01-01' and t.last::date is distinct from t.first::date
	) n (name)
	where starts is not null or ends is not null;
end;

-- The texts of the terms of a number: its sign and power of ten, with its first digit, with its first two.
create function tributary_number_texts(scope text, value numeric) returns setof text language sql immutable strict parallel safe
begin atomic
	select scope || E'\x01n' || n.name from (
		select case when value < 0 then '-' else '+' end as sign, split_part(abs(value)::text, '.', 1) as whole, split_part(abs(value)::text, '.', 2) as fraction,
			rpad(left(ltrim(replace(abs(value)::text, '.', ''), '0'), 2), 2, '0') as digits
	) t cross join lateral (
		select case when t.whole <> '0' then length(t.whole) - 1 else length(ltrim(t.fraction, '0')) - length(t.fraction) - 1 end
	) p (power) cross join lateral (
		select unnest(case
			when value = 0 then array['0']
			when p.power >= 15 then array[t.sign || '15']
			when p.power <= -12 then array[t.sign || '-12']
			else array[t.sign || p.power, t.sign || p.power || ':' || left(t.digits, 1), t.sign || p.power || ':' || t.digits]
		end)
	) n (name);
end;
`;
