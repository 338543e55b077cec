import type pg from 'pg';
import { readDatabaseUrl } from '#core/database-url.ts';

/** A connection without a session of its own does this for itself. */
export interface WithoutSession {
	/** Settings of the connection, which each transaction makes for itself. */
	readonly settings: readonly (readonly [name: string, value: string])[];
	/** False: the server keeps no statement for the next transaction. */
	readonly prepares: boolean;
}

export const ownSession: WithoutSession = { settings: [], prepares: true };

/** These count from the next transaction on; a transaction has another name for its own. */
const ofThisTransaction: Readonly<Record<string, string>> = {
	default_transaction_read_only: 'transaction_read_only',
	default_transaction_isolation: 'transaction_isolation',
};

/** Divides the settings of a client: a pooler takes no `options`, and would give the session to others. */
export function pooled(url: string, { options, ...client }: pg.ClientConfig): { client: pg.ClientConfig; without: WithoutSession } {
	const { pooling } = readDatabaseUrl(url);
	if (pooling === 'session') return { client: options === undefined ? client : { ...client, options }, without: ownSession };
	const settings = [...(options ?? '').matchAll(/-c (\w+)=((?:\\ |\S)+)/g)].map(
		([, name = '', value = '']) => [ofThisTransaction[name] ?? name, value.replaceAll('\\ ', ' ')] as const,
	);
	return { client, without: { settings, prepares: pooling === 'transaction' } };
}

/** A statement that makes the settings for the transaction in which it is sent. */
export function settingStatement({ settings }: WithoutSession): { name: string; text: string } | undefined {
	if (settings.length === 0) return undefined;
	const calls = settings.map(([name, value]) => `set_config('${name}', '${value}', true)`);
	return { name: 'settings_of_transaction', text: `select ${calls.join(', ')}` };
}
