import type { Statement } from '../../statement.ts';

const columns = 'f.id, f.owner, f.screen, f.name, f.query, f.created_at';

/** Lists the filters of a person: of the list `$2`, or of all lists if that is null. */
export const listSavedFilters: Statement = {
	name: 'list_saved_filters',
	text: `select ${columns} from saved_filter f where f.owner = $1 and ($2::text is null or f.screen = $2) order by f.screen, f.name`,
};

export const showSavedFilter: Statement = {
	name: 'show_saved_filter',
	text: `select ${columns} from saved_filter f where f.id = $1::uuid`,
};

/** Saves a filter, in place of one with its name. A person has at most `$7` of them; then there is no row. */
export const saveFilter: Statement = {
	name: 'save_filter',
	text: `
insert into saved_filter as f (id, owner, screen, name, query, created_at)
select $1::uuid, $2, $3, $4, $5, $6::timestamptz
where (select count(*) from saved_filter o where o.owner = $2 and (o.screen, o.name) <> ($3, $4)) < $7::integer
on conflict (owner, screen, name) do update set query = excluded.query, created_at = excluded.created_at
returning ${columns}`,
};

export const removeSavedFilter: Statement = {
	name: 'remove_saved_filter',
	text: 'delete from saved_filter where id = $1::uuid and owner = $2',
};
