import { Migration } from '@mikro-orm/migrations';

/**
 * Numbers have a name for their first three digits too, and dates for their decade (src/record/search-entry.ts): by two digits a search for a
 * number read ten times as many resources, and a date without an end had a hundred names. The index of elements is filled anew, as always where
 * what it holds has changed.
 *
 * Locks: none that reads or writes wait for.
 */
export class FinerLeads extends Migration {
	override up(): void {
		this.addSql(functions);
	}
}

const functions = String.raw`
-- The texts of the terms of a range of time: decade, year, month and day of its start, and of its end if that is another day.
create or replace function tributary_range_texts(scope text, starts timestamptz, ends timestamptz) returns setof text language plpgsql immutable parallel safe as $function$
declare
	first timestamp := starts at time zone 'UTC';
	last timestamp := ends at time zone 'UTC';
	day text;
begin
	if starts is null and ends is null then return; end if;
	if starts is null or first < '1900-01-01' then return next scope || E'\x01do'; end if;
	if first >= '2100-01-01' then return next scope || E'\x01df'; end if;
	if ends is null or last >= '2100-01-01' then return next scope || E'\x01dO'; end if;
	if first >= '1900-01-01' and first < '2100-01-01' then
		day := to_char(first, 'YYYY-MM-DD');
		return query select scope || E'\x01d' || n from unnest(array['c' || left(day, 3), 'y' || left(day, 4), 'm' || left(day, 7), 'd' || day]) n;
	end if;
	-- A stored range may end before it starts.
	if last < first and last >= '1900-01-01' then
		day := to_char(last, 'YYYY-MM-DD');
		return query select scope || E'\x01d' || n from unnest(array['c' || left(day, 3), 'y' || left(day, 4), 'm' || left(day, 7), 'd' || day]) n;
	end if;
	if last < first and last < '1900-01-01' then return next scope || E'\x01do'; end if;
	if last >= '1900-01-01' and last < '2100-01-01' and last::date is distinct from first::date then
		day := to_char(last, 'YYYY-MM-DD');
		return query select scope || E'\x01d' || n from unnest(array['C' || left(day, 3), 'Y' || left(day, 4), 'M' || left(day, 7), 'D' || day]) n;
	end if;
end
$function$;

-- The texts of the terms of a number: its sign and power of ten, and with its first one, two and three digits.
create or replace function tributary_number_texts(scope text, value numeric) returns setof text language plpgsql immutable strict parallel safe as $function$
declare
	name text := scope || E'\x01n' || case when value < 0 then '-' else '+' end;
	written text := abs(value)::text;
	point int := strpos(written, '.');
	whole int := case when point = 0 then length(written) else point - 1 end;
	digits text := ltrim(replace(written, '.', ''), '0');
	power int;
begin
	if value = 0 then
		return next scope || E'\x01n0';
		return;
	end if;
	-- By how many places the first digit stands before the point, or behind it.
	power := whole - 1 - (length(replace(written, '.', '')) - length(digits));
	if power >= 15 or power <= -12 then
		return next name || case when power > 0 then '15' else '-12' end;
		return;
	end if;
	name := name || power;
	digits := rpad(left(digits, 3), 3, '0');
	return next name;
	return next name || ':' || left(digits, 1);
	return next name || ':' || left(digits, 2);
	return next name || ':' || digits;
end
$function$;
`;
