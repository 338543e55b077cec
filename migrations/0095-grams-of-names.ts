import { Migration } from '@mikro-orm/migrations';

/**
 * A search by a part of a name cost more in a larger site: the index held the site and each three letters apart, and PostgreSQL merged the list of all
 * rows of the site with the lists of those that have the letters. Now the site is part of each entry. `storage/statements/text-grams` makes the same
 * grams of what is searched for.
 *
 * The function cuts a text three times, from each of its first three letters on: in a time that grows with its length, and not with the square of it. A text
 * of more than 50,000 letters would cost a writer seconds, so it has one entry that says so, and every search looks at it.
 *
 * Locks: `patient` against writes while its index is built, some ten seconds for a million patients.
 */
export class GramsOfNames extends Migration {
	override up(): void {
		this.addSql(String.raw`
create function tributary_grams(site uuid, value text) returns text[] language plpgsql immutable strict parallel safe as $$
declare
	letters integer := length(value);
	-- What stands for each three letters: U+0001, the end of the site's id, and they themselves.
	gram text := E'\x01' || right(site::text, 4) || '\&';
begin
	if letters > 50000 then
		return array[right(site::text, 4)];
	end if;
	return string_to_array(substr(
		regexp_replace(left(value, letters / 3 * 3), '...', gram, 'g')
			|| regexp_replace(substr(value, 2, (letters - 1) / 3 * 3), '...', gram, 'g')
			|| regexp_replace(substr(value, 3, (letters - 2) / 3 * 3), '...', gram, 'g'), 2), E'\x01');
end
$$;
create index patient_grams on patient using gin (tributary_grams(site_id, name) collate "C") with (gin_pending_list_limit = 512);
`);
	}
}
