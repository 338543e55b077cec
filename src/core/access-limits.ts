const hour = 3_600_000;

/** Who may call while the database is away; rows of the table in limits.ts. */
export const accessLimitDefinitions = {
	accessStaleMsMax: {
		variable: 'ACCESS_STALE_MS_MAX',
		default: 24 * hour,
		min: 1000,
		max: 8760 * hour,
		answer: 'of the database being away: who was known stays known; then 503, MLLP closed, A-ASSOCIATE-RJ transient, 0xA700',
	},
	accessStaleReplicaMsMax: {
		variable: 'ACCESS_STALE_REPLICA_MS_MAX',
		default: 30_000,
		min: 1000,
		max: 8760 * hour,
		answer: 'the same with DATABASE_READ_URL, since the replica still answers reads, also to a key that another node has revoked',
	},
} as const;
