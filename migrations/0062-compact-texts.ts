import { Migration } from '@mikro-orm/migrations';
import { commonTexts } from '#record/compact-text.ts';

/**
 * Texts of resources that messages write may be kept compact: JSON that they have in common is named by a number (src/record/compact-text.ts).
 * These functions give them back whole, and read them as JSON. Stored texts stay as they are, and whole ones remain valid.
 *
 * Locks: none that reads or writes wait for.
 */
export class CompactTexts extends Migration {
	override up(): void {
		this.addSql(functions);
	}
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

const functions = `
create or replace function tributary_whole_text(stored text) returns text language plpgsql immutable strict parallel safe as $function$
begin
	if substr(stored, 1, 1) <> '%' then return stored; end if;
	return format(stored, variadic array[${commonTexts.map(literal).join(', ')}]);
end
$function$;

-- What is read costs as much as the cast that it takes the place of, so searches are planned as before.
create or replace function tributary_json(stored text) returns jsonb language plpgsql immutable strict parallel safe cost 1 as $function$
begin
	if substr(stored, 1, 1) <> '%' then return stored::jsonb; end if;
	return tributary_whole_text(stored)::jsonb;
end
$function$;

create or replace function tributary_json(part jsonb) returns jsonb language sql immutable strict parallel safe as 'select part';
`;
