import type { OperationContext } from '#administration/context.ts';
import type { Delivery, ReplyTo } from '#record/delivery.ts';
import type { Config } from '../config.ts';

export interface CliStreams {
	stdout: { write(text: string): unknown };
	stderr: { write(text: string): unknown };
}

/** Functions of parts that the command line may not import. */
export interface CliHooks {
	/** Runs the service until it ends, and returns the exit code. */
	start(): Promise<number>;
	processDelivery<Sent extends Delivery>(databaseUrl: string, delivery: Sent, limits: Config['limits']): Promise<ReplyTo<Sent>>;
	/** C-ECHO of remote AEs. */
	remoteEcho(config: Config): OperationContext['echo'];
	readConfig(): Config;
	version: string;
}

/** The arguments do not fit the command. The exit code is 2. */
export class UsageError extends Error {
	override readonly name = 'UsageError';
}

export const flag = { type: 'boolean' } as const;
