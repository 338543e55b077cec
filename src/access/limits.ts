import type { LimitDefinitions, LimitsOf } from '#core/limit-definition.ts';

const hour = 3_600_000;

/** Limits of access while the database is away, of signing in, and of the queues of the audit trail. */
export const accessLimitDefinitions = {
	accessStaleMsMax: {
		variable: 'ACCESS_STALE_MS_MAX',
		default: 24 * hour,
		min: 1000,
		max: 8760 * hour,
		answer: 'while the database is away, known callers stay known for this long; then 503, MLLP closed, A-ASSOCIATE-RJ transient',
	},
	accessStaleReplicaMsMax: {
		variable: 'ACCESS_STALE_REPLICA_MS_MAX',
		default: 30_000,
		min: 1000,
		max: 8760 * hour,
		answer: 'the same with DATABASE_READ_URL; the replica then still answers reads, even for a key that another node has revoked',
	},
	accessConfirmMsMax: {
		variable: 'ACCESS_CONFIRM_MS_MAX',
		default: 2000,
		min: 10,
		max: 60_000,
		answer: 'a process of the node does not confirm a change of access for this long; the command ends, and says so',
	},
	signInFailuresMax: {
		variable: 'SIGN_IN_FAILURES_MAX',
		default: 5,
		min: 1,
		max: 100,
		answer: 'consecutive wrong passwords for an account (four times as many for an address); 429 with Retry-After',
	},
	signInLockMs: {
		variable: 'SIGN_IN_LOCK_MS',
		default: 5000,
		min: 100,
		max: hour,
		answer: 'time for which an account or an address is locked at first; each further wrong password doubles it',
	},
	signInLockMsMax: {
		variable: 'SIGN_IN_LOCK_MS_MAX',
		default: hour / 4,
		min: 1000,
		max: 24 * hour,
		answer: 'the longest time for which an account or an address is locked',
	},
	signInsWaitingMax: {
		variable: 'SIGN_INS_WAITING_MAX',
		default: 16,
		min: 1,
		max: 1000,
		answer: 'passwords that wait to be checked on a node, which checks one at a time; 429 with Retry-After',
	},
	oneTimePasswordMsMax: {
		variable: 'ONE_TIME_PASSWORD_MS_MAX',
		default: 168 * hour,
		min: 60_000,
		max: 8760 * hour,
		answer: 'time since a one-time password was created; it expires, 401',
	},
	sessionIdleMsMax: {
		variable: 'SESSION_IDLE_MS_MAX',
		default: hour / 2,
		min: 1000,
		max: 24 * hour,
		answer: 'time of a sign-in session without a request; the session ends, 401',
	},
	sessionMsMax: {
		variable: 'SESSION_MS_MAX',
		default: 12 * hour,
		min: 1000,
		max: 720 * hour,
		answer: 'time since the sign-in; the session ends, 401',
	},
	tokenProviderMsMax: {
		variable: 'TOKEN_PROVIDER_MS_MAX',
		default: 5000,
		min: 100,
		max: 60_000,
		answer: 'time in which an OIDC provider must answer; while its keys are not known, 503 with Retry-After',
	},
	tokenKeysMsMax: {
		variable: 'TOKEN_KEYS_MS_MAX',
		default: 300_000,
		min: 1000,
		max: 24 * hour,
		answer: 'age at which the keys and metadata of an OIDC provider are fetched again; a key that it withdraws is refused then',
	},
	tokenKeysStaleMsMax: {
		variable: 'TOKEN_KEYS_STALE_MS_MAX',
		default: 24 * hour,
		min: 1000,
		max: 8760 * hour,
		answer: 'while an OIDC provider is away, its known keys are used up to this age; then 503 with Retry-After',
	},
	tokenKeysUnknownMs: {
		variable: 'TOKEN_KEYS_UNKNOWN_MS',
		default: 10_000,
		min: 100,
		max: hour,
		answer: 'time between two requests to an OIDC provider for keys that are not among the known ones; meanwhile 401',
	},
	tokenSkewMsMax: {
		variable: 'TOKEN_SKEW_MS_MAX',
		default: 30_000,
		min: 0,
		max: 300_000,
		answer: 'difference between the clocks of an OIDC provider and this host; a token is taken this long before and after its time',
	},
	tokenCheckedMsMax: {
		variable: 'TOKEN_CHECKED_MS_MAX',
		default: 30_000,
		min: 0,
		max: hour,
		answer: 'time for which a checked access token is not checked again; a token that the provider revokes may be taken this long',
	},
	tokensCheckedMax: {
		variable: 'TOKENS_CHECKED_MAX',
		default: 5000,
		min: 1,
		max: 1_000_000,
		answer: 'checked access tokens that are remembered; the oldest is then checked again',
	},
	tokenIntrospectionsMax: {
		variable: 'TOKEN_INTROSPECTIONS_MAX',
		default: 32,
		min: 1,
		max: 10_000,
		answer: 'concurrent questions to an introspection endpoint; 503 with Retry-After',
	},
	auditRefusalsMax: {
		variable: 'AUDIT_REFUSALS_MAX',
		default: 1000,
		min: 1,
		max: 1_000_000,
		answer: 'refusals from distinct senders that wait for the audit trail; further ones are only counted in the log',
	},
	auditEventsMax: {
		variable: 'AUDIT_EVENTS_MAX',
		default: 10_000,
		min: 100,
		max: 10_000_000,
		answer: 'audit events of sites that wait while the database does not answer; further ones are lost, and the log says so',
	},
} as const satisfies LimitDefinitions;

export type AccessLimits = LimitsOf<typeof accessLimitDefinitions>;
