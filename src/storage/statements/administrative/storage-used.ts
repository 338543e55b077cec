import type { Statement } from '../../statement.ts';

/** Every site with the bytes of its images. */
export const imageBytes: Statement = {
	name: 'image_bytes',
	text: `
select s.id, s.slug, coalesce(sum(i.bytes), 0)
from site s left join imaging_study i on i.site_id = s.id
group by s.id, s.slug`,
};

export const databaseBytes: Statement = { name: 'database_bytes', text: 'select pg_database_size(current_database())' };
