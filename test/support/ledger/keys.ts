import { createApiKey, digestSecret } from '#access/api-key.ts';

/** Gives a site a further key, past the service, which knows it within a second. */
export async function insertKey(
	rows: (text: string, values?: unknown[]) => Promise<unknown>,
	siteId: string,
): Promise<{ id: string; key: string }> {
	const { id, secret, key } = createApiKey();
	await rows('insert into api_key (id, site_id, owner_id, secret_hash) select $1, $2, id, $3 from app_user limit 1', [
		id,
		siteId,
		digestSecret(secret),
	]);
	await rows('update access_version set version = version + 1');
	return { id, key };
}
