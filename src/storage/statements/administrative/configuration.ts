import type { Statement } from '../../statement.ts';

/** The aliases of assigning authorities of all sites, apart from those that have ended. */
export const listAllAliases: Statement = {
	name: 'list_all_aliases',
	text: `
select s.slug as site, a.system, a.other, a.origin, jsonb_array_length(a.merged) as merged
from authority_alias a
join site s on s.id = a.site_id
where a.ended_at is null`,
};

/** The definitions that sites have loaded, without their content. */
export const listAllDefinitions: Statement = {
	name: 'list_all_definitions',
	text: `
select s.slug as site, d.kind, d.url, d.version, d.package
from site_definition d
join site s on s.id = d.site_id`,
};

/** Keeps what an apply changed, and the state before it. Of older ones only the newest `$7` stay. */
export const insertConfigurationApply: Statement = {
	name: 'insert_configuration_apply',
	text: `
with gone as (
	delete from configuration_apply where id not in (select id from configuration_apply order by id desc limit $7::integer - 1)
)
insert into configuration_apply (id, applied_at, actor, before, changes, rolls_back) values ($1, $2::timestamptz, $3, $4, $5, $6)`,
};

export const noteRolledBack: Statement = {
	name: 'note_rolled_back',
	text: 'update configuration_apply set rolled_back_by = $2 where id = $1',
};

/** Lists applies, newest first; with an id, that one. */
export const listConfigurationApplies: Statement = {
	name: 'list_configuration_applies',
	text: `
select id, applied_at, actor, changes, rolls_back, rolled_back_by
from configuration_apply
where $1::uuid is null or id = $1
order by id desc
limit $2::integer`,
};

export const readConfigurationBefore: Statement = {
	name: 'read_configuration_before',
	text: 'select before from configuration_apply where id = $1',
};
