import type { Statement } from '../../statement.ts';

/** Deletes what has expired on all sites, because nobody may ever search some of them again. */
export const deleteExpiredSearches: Statement = {
	name: 'delete_expired_searches',
	text: 'delete from long_search where expires_at <= now()',
};
