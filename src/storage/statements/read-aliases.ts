import { columnsOf } from '../columns.ts';
import type { Statement } from '../statement.ts';

export const aliasColumns = columnsOf({ a: ['site_id', 'system', 'other', 'origin', 'ended_at'] });

/** Reads the aliases of the assigning authorities of the sites `$1`, those that have ended too. */
export const readAliases: Statement = {
	name: 'read_authority_aliases',
	text: `
select ${aliasColumns.list}
from authority_alias a
where a.site_id = any ($1::uuid[])`,
};
