import { Migration } from '@mikro-orm/migrations';

/**
 * Searches match names and other texts without accents. `patient.name` holds, beside the folded names, those without accents where they
 * differ; the names that are there get them once.
 *
 * Locks: the rows of patients with an accent in a name, until the migration ends; other rows and all reads go on. About a minute for a
 * million of these rows, as their index entries are made anew.
 * A node of release 0.1.0 that still runs afterwards writes names without this addition: such a name is found with its accents, and without
 * them only from its next version on.
 */
export class PlainNames extends Migration {
	override up(): void {
		this.addSql(plain);
		this.addSql(names);
	}
}

const plain = String.raw`
-- Text as the product compares it in searches (src/fhir/fold.ts, plain): folded, and without accents.
create function tributary_plain(value text) returns text language sql immutable parallel safe
return case when octet_length(value) = char_length(value) then lower(value collate "C") else
	replace(replace(replace(translate(
		normalize(regexp_replace(normalize(tributary_fold(value), NFD), '[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]', '', 'g'), NFC),
		'øđðłħŧ', 'oddlht'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
end;
`;

const names = `
update patient p set name = p.name || E'\\n' || tributary_plain(p.name)
where octet_length(p.name) > char_length(p.name) and tributary_plain(p.name) <> p.name;
`;
