import type { Statement } from '../../statement.ts';

/** Selects those of the given objects that are in the index of any site, as an instance or in a conflict. */
export const knownObjects: Statement = {
	name: 'known_objects',
	text: `
select i.object_key from imaging_instance i where i.object_key = any ($1::text[])
union
select c.object_key from imaging_conflict c where c.object_key = any ($1::text[])`,
};

/** Objects that the index names, in pages by site and instance. */
export const indexedObjects: Statement = {
	name: 'indexed_objects',
	text: `
select i.site_id, i.sop_instance_uid, i.object_key from imaging_instance i
where (i.site_id, i.sop_instance_uid) > ($1::uuid, $2::text)
order by i.site_id, i.sop_instance_uid
limit 1000`,
};
