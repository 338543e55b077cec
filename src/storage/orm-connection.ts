/** MikroORM's part of a connection URL: the driver reads the rest itself, so that a Unix socket (`?host=/…`) works too. */
export function ormConnection(databaseUrl: string): { dbName: string; driverOptions: { connectionString: string } } {
	return { dbName: decodeURIComponent(new URL(databaseUrl).pathname.slice(1)), driverOptions: { connectionString: databaseUrl } };
}
