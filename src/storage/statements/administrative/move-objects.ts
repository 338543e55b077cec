import type { Statement } from '../../statement.ts';

/** Lists the objects of instances as their rows state them, in pages by site and instance. */
export const instancesToMove: Statement = {
	name: 'instances_to_move',
	text: `
select i.site_id, i.sop_instance_uid as after, i.object_key, i.digest, i.bytes::float8 as bytes, i.sop_instance_uid, i.calling_ae, i.source
from imaging_instance i
where (i.site_id, i.sop_instance_uid) > ($1::uuid, $2::text)
order by i.site_id, i.sop_instance_uid
limit 500`,
};

/** Lists objects that are kept aside in the same way, in pages by site and conflict. */
export const conflictsToMove: Statement = {
	name: 'conflicts_to_move',
	text: `
select c.site_id, c.id::text as after, c.object_key, c.digest, c.bytes::float8 as bytes, c.sop_instance_uid, c.calling_ae, c.source
from imaging_conflict c
where (c.site_id, c.id) > ($1::uuid, $2::uuid)
	and not exists (
		select from imaging_instance i
		where i.site_id = c.site_id and i.sop_instance_uid = c.sop_instance_uid and i.object_key = c.object_key)
order by c.site_id, c.id
limit 500`,
};
