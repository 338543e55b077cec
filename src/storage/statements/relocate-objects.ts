import { plainArray, type Statement, textArray } from '../statement.ts';

/** An object that has been copied, and is to be found elsewhere from now on. */
export interface Relocation {
	siteId: string;
	sopInstanceUid: string;
	from: string;
	to: string;
}

const given = 'unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as k (site_id, sop_instance_uid, object_key, placed)';

/**
 * Gives rows the new keys of their objects, as instances and in conflicts. A row that names another object by now is left alone. Whoever
 * calls it has the turns of the sites: a batch copies the keys that it has read.
 */
export const relocateObjects: readonly Statement[] = [
	{
		name: 'relocate_instances',
		text: `
update imaging_instance i set object_key = k.placed from ${given}
where i.site_id = k.site_id and i.sop_instance_uid = k.sop_instance_uid and i.object_key = k.object_key`,
	},
	{
		name: 'relocate_conflicts',
		text: `
update imaging_conflict c set object_key = k.placed from ${given}
where c.site_id = k.site_id and c.sop_instance_uid = k.sop_instance_uid and c.object_key = k.object_key`,
	},
];

export function relocationParameters(relocations: readonly Relocation[]): unknown[] {
	return [
		plainArray(relocations.map(({ siteId }) => siteId)),
		textArray(relocations.map(({ sopInstanceUid }) => sopInstanceUid)),
		textArray(relocations.map(({ from }) => from)),
		textArray(relocations.map(({ to }) => to)),
	];
}

/** Finds the keys and descriptions by which rows name objects of the given instances. */
export const namedObjects: Statement = {
	name: 'named_objects',
	text: `
select i.object_key, i.digest, i.bytes, i.calling_ae, i.source
from unnest($1::uuid[], $2::text[]) as k (site_id, sop_instance_uid)
join imaging_instance i on i.site_id = k.site_id and i.sop_instance_uid = k.sop_instance_uid
union all
select c.object_key, c.digest, c.bytes, c.calling_ae, c.source
from unnest($1::uuid[], $2::text[]) as k (site_id, sop_instance_uid)
join imaging_conflict c on c.site_id = k.site_id and c.sop_instance_uid = k.sop_instance_uid`,
};
