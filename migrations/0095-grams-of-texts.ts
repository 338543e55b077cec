import { Migration } from '@mikro-orm/migrations';

/**
 * A search by a part of a name cost more in a larger site: the index held the site and each three letters apart, and PostgreSQL merged the list of all
 * rows of the site with the lists of those that have the letters. Now the site is part of each entry. `storage/statements/text-grams` makes the same
 * grams of what is searched for.
 *
 * The function cuts a text three times, from each of its first three letters on: in a time that grows with its length, and not with the square of it.
 *
 * Locks: `patient` and `other_resource` against writes while the indexes are built, some ten seconds for a million patients. A node of the release
 * before finds names more slowly from then on.
 */
export class GramsOfTexts extends Migration {
	override up(): void {
		this.addSql(String.raw`
create function tributary_grams(site uuid, value text) returns text[] language plpgsql immutable strict parallel safe as $$
declare
	letters integer := length(value);
	-- What stands for each three letters: U+0001, the end of the site's id, and they themselves.
	gram text := E'\x01' || right(site::text, 4) || '\&';
begin
	return string_to_array(substr(
		regexp_replace(left(value, letters / 3 * 3), '...', gram, 'g')
			|| regexp_replace(substr(value, 2, (letters - 1) / 3 * 3), '...', gram, 'g')
			|| regexp_replace(substr(value, 3, (letters - 2) / 3 * 3), '...', gram, 'g'), 2), E'\x01');
end
$$;
`);
		for (const [table, column] of [
			['patient', 'name'],
			['other_resource', 'strings'],
		]) {
			this.addSql(
				`create index ${table}_grams on ${table} using gin (tributary_grams(site_id, ${column}) collate "C") with (gin_pending_list_limit = 512);`,
			);
			this.addSql(`drop index ${table}_${column};`);
		}
	}
}
