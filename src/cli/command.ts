import type { ParseArgsConfig } from 'node:util';
import type { ConflictContext } from '#administration/conflicts.ts';
import type { Delivery, Reply } from '#record/delivery.ts';
import type { Config } from '../config.ts';

export interface CliStreams {
	stdout: { write(text: string): unknown };
	stderr: { write(text: string): unknown };
}

/** What the command line needs of the parts that it may not import. */
export interface CliHooks {
	/** Runs the service until it ends; answers the exit code. */
	start(): Promise<number>;
	processDeliveries(databaseUrl: string, deliveries: readonly Delivery[], limits: Config['limits']): Promise<Reply[]>;
	readConfig(): Config;
	version: string;
}

export type Options = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export interface Invocation {
	positionals: readonly string[];
	options: Options;
}

/** One command: `site add`. What it returns is printed, as JSON or for people. */
export interface Command {
	name: string;
	/** Behind the name in the usage line. */
	usage: string;
	summary: string;
	/** How many positionals it takes: fewest and most. */
	positionals: readonly [number, number];
	options: NonNullable<ParseArgsConfig['options']>;
	run(context: ConflictContext, invocation: Invocation): Promise<unknown>;
}

/** The call is not of the command's form: exit code 2. */
export class UsageError extends Error {
	override readonly name = 'UsageError';
}

export function text(options: Options, name: string): string | undefined {
	const value = options[name];
	return typeof value === 'string' ? value : undefined;
}

/** `on` or `off`. */
export function onOff(options: Options, name: string): boolean | undefined {
	const value = text(options, name);
	if (value !== undefined && value !== 'on' && value !== 'off') throw new UsageError(`--${name} is on or off`);
	return value === undefined ? undefined : value === 'on';
}

export function required(options: Options, name: string): string {
	const value = text(options, name);
	if (value === undefined) throw new UsageError(`--${name} is required`);
	return value;
}

export function texts(options: Options, name: string): string[] | undefined {
	const value = options[name];
	return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

/** `--also A03,A11` and `--also A03 --also A11` alike. */
export function items(options: Options, name: string): string[] | undefined {
	return texts(options, name)
		?.flatMap((value) => value.split(','))
		.map((value) => value.trim())
		.filter((value) => value !== '');
}

/** Leaves out what was not given, so that a schema sees it as absent. */
export function given<T extends Record<string, unknown>>(input: T): Partial<T> {
	return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export const string = { type: 'string' } as const;
export const strings = { type: 'string', multiple: true } as const;
export const flag = { type: 'boolean' } as const;
