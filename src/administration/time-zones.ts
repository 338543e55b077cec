import { hostTimeZone } from '#core/time-zone.ts';
import type { ConnectionPool } from '#storage/connection-pool.ts';
import { sitesWithoutTimeZone } from '#storage/statements/administrative/sites.ts';

export interface TimeZoneReport {
	/** The zone of this machine, by which times without an offset are read where neither the sender nor its site has a zone. */
	assumed_time_zone: string;
	/** Active sites for which it is assumed. */
	sites_without_time_zone: string[];
}

export async function checkTimeZones(database: ConnectionPool): Promise<TimeZoneReport> {
	const rows = await database.rows<{ slug: string }>(sitesWithoutTimeZone, []);
	return { assumed_time_zone: hostTimeZone(), sites_without_time_zone: rows.map(({ slug }) => slug) };
}
