import { Migration } from '@mikro-orm/migrations';

/**
 * Searches by sound (`Patient?phonetic=`). `tributary_sounds` returns the double metaphone of each word of a name, both readings; a word of
 * other letters is its own sound. The index of elements holds them (src/storage/statements/search-entries.ts), and is filled anew behind the
 * writes. fuzzystrmatch comes with PostgreSQL, and the owner of a database may create it, as pg_trgm.
 *
 * Locks: none on a table.
 */
export class Sounds extends Migration {
	override up(): void {
		this.addSql(sounds);
	}
}

const sounds = `
create extension if not exists fuzzystrmatch;

create function tributary_sounds(name text) returns setof text language sql immutable strict parallel safe
begin atomic
	select distinct case when w.word ~ '^[a-z]+$' then s.sound else w.word end
	from regexp_split_to_table(tributary_plain(name), '[^[:alnum:]]+') w (word)
	cross join lateral (values (dmetaphone(case when w.word ~ '^[a-z]+$' then w.word else '' end)),
		(dmetaphone_alt(case when w.word ~ '^[a-z]+$' then w.word else '' end))) s (sound)
	where w.word <> '' and (s.sound <> '' or w.word !~ '^[a-z]+$');
end;
`;
