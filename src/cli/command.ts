import type { OperationContext } from '#administration/context.ts';
import type { Process } from '#administration/imports/hl7-folder.ts';
import type { Delivery, ReplyTo } from '#record/delivery.ts';
import type { Config } from '../config.ts';

export interface CliStreams {
	/** A terminal tells its width, so that tables fit into it. */
	stdout: { write(text: string): unknown; columns?: number | undefined };
	stderr: { write(text: string): unknown };
}

/** Functions of parts that the command line may not import. */
export interface CliHooks {
	/** Runs the service until it ends, and returns the exit code. */
	start(): Promise<number>;
	processDelivery<Sent extends Delivery>(databaseUrl: string, delivery: Sent, limits: Config['limits']): Promise<ReplyTo<Sent>>;
	/** Processes many deliveries of a site, on a connection that stays open. */
	openIngest(databaseUrl: string, limits: Config['limits']): Promise<{ process: Process; close(): Promise<void> }>;
	/** C-ECHO of remote AEs. */
	remoteEcho(config: Config): OperationContext['echo'];
	/** C-STORE to remote AEs. */
	remoteSend(config: Config): OperationContext['send'];
	readConfig(): Config;
	/** The variables by which the process was started; `doctor` looks for misspelt ones. */
	environment?: NodeJS.ProcessEnv;
	version: string;
}

/** The arguments do not fit the command. The exit code is 2. */
export class UsageError extends Error {
	override readonly name = 'UsageError';
}

export const flag = { type: 'boolean' } as const;

/** A word or an option of a command, for its help and its completion. */
export interface Argument {
	/** `site` of `--site`; the name of a positional word. */
	name: string;
	/** Its value as the usage line writes it: `<slug>`, `on|off`. Undefined for an option without a value. */
	value: string | undefined;
	/** The words that it can be. */
	choices: readonly string[];
	meaning: string;
	isRequired: boolean;
	/** It can be given several times. */
	isRepeated: boolean;
}

/** One way to use a command. */
export interface Form {
	usage: string;
	summary: string;
	words: readonly Argument[];
	options: readonly Argument[];
}

/** A command as its help and its completion show it. */
export interface DescribedCommand {
	/** One word or two: `doctor`, `site add`. */
	name: string;
	summary: string;
	forms: readonly Form[];
}

/** Every command has these. */
export const commonOptions: readonly Argument[] = [
	{ name: 'json', meaning: 'prints one JSON document' },
	{ name: 'wide', meaning: 'prints tables in full, even if the terminal is narrower' },
	{ name: 'help', meaning: 'shows this help' },
].map((option) => ({ ...option, value: undefined, choices: [], isRequired: false, isRepeated: false }));
