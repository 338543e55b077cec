import { Migration } from '@mikro-orm/migrations';

/**
 * One table for the R4 resource types without a table of their own. `resource_type` tells them apart.
 *
 * `terms` holds what tokens and references of searches compare: for each parameter and value a number of 64 bits
 * (src/record/search-term.ts), so that one index serves every parameter of every type. `strings` holds the folded texts, for the start or
 * any part of one. The three ranges are the date parameters in the order in which the type defines them; no type of R4 has more.
 *
 * Locks: none on a table that is in use.
 */
export class OtherResources extends Migration {
	override up(): void {
		this.addSql(table);
		this.addSql(functions);
	}
}

const table = `
create table other_resource (
	site_id uuid not null,
	resource_type text not null,
	id uuid not null,
	given_id text,
	version integer not null,
	last_updated timestamptz not null,
	source text,
	meta text,
	resource text not null,
	patient_id uuid,
	recorded_patient_id uuid,
	terms bigint[],
	strings text,
	date1_start timestamptz,
	date1_end timestamptz,
	date2_start timestamptz,
	date2_end timestamptz,
	date3_start timestamptz,
	date3_end timestamptz,
	-- The ranges of a date parameter that has several, as JSON by the name of the columns, which hold the first and the last moment.
	date_values text,
	-- A deleted resource keeps its row, so that its id is known and its history goes on.
	deleted boolean not null default false,
	primary key (site_id, resource_type, id)
) with (fillfactor = 90, toast_tuple_target = 8160);
create index other_resource_patient on other_resource (site_id, patient_id, resource_type, id) where patient_id is not null;
-- Not of deleted ones, so that a look-up by id never takes it for the primary key.
create index other_resource_changes on other_resource (site_id, resource_type, last_updated, id) where not deleted;
create index other_resource_terms on other_resource using gin (site_id, terms);
create index other_resource_strings on other_resource using gin (site_id, strings gin_trgm_ops);
create index other_resource_date1 on other_resource (site_id, resource_type, date1_start, id) where date1_start is not null;
create index other_resource_date2 on other_resource (site_id, resource_type, date2_start, id) where date2_start is not null;
create index other_resource_date_values on other_resource (site_id, resource_type) where date_values is not null;
create index other_resource_date3 on other_resource (site_id, resource_type, date3_start, id) where date3_start is not null;
`;

const functions = `
-- The number of a term, as src/record/search-term.ts makes it.
create function tributary_term(value text) returns bigint language sql immutable strict parallel safe
return ('x' || left(encode(sha256(convert_to(value, 'UTF8')), 'hex'), 16))::bit(64)::bigint;

-- The row of a FHIR id, as src/record/row-id.ts makes it.
create function tributary_row_id(fhir_id text) returns uuid language sql immutable strict parallel safe
return case
	when fhir_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-79a-f][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$' then fhir_id::uuid
	else overlay(overlay(left(encode(sha256(convert_to(fhir_id, 'UTF8')), 'hex'), 32) placing '8' from 13 for 1) placing 'a' from 17 for 1)::uuid
end;

-- The patient, the one who replaced it, and all whom that one replaced: a reference to any of them means the same person.
create function tributary_same_patient(site uuid, patient uuid) returns setof uuid language sql stable parallel safe
begin atomic
	with recursive own as (
		select coalesce(tributary_survivor(site, patient), patient) as id
		union
		select p.id from own join patient p on p.site_id = site and p.merged_into = own.id
	)
	select own.id from own;
end;
`;
