import type { Statement } from '../../statement.ts';
import { siteSettings } from './settings.ts';

/** Instances with their objects, of one site or of all, of one study or of all, in pages by site and instance. */
export const exportedObjects: Statement = {
	name: 'exported_objects',
	text: `
select i.site_id, s.slug as site, i.study_uid, i.series_uid, i.sop_instance_uid, i.object_key, i.bytes::float8 as bytes
from imaging_instance i
join site s on s.id = i.site_id
where (i.site_id, i.sop_instance_uid) > ($1::uuid, $2::text) and ($3::text is null or s.slug = $3) and ($4::text is null or i.study_uid = $4)
order by i.site_id, i.sop_instance_uid
limit 1000`,
};

/** The sites with their settings. */
export const settingsOfSites: Statement = {
	name: 'settings_of_sites',
	text: `select s.id, ${siteSettings} as settings from site s`,
};
