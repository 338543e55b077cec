import type { z } from 'zod';
import type { Role } from '#core/role.ts';
import type { OperationContext } from './context.ts';

/**
 * The sites that an operation concerns. Together with the role they decide who may call it:
 * `network`: no particular site (users, new sites); the caller needs access to all sites;
 * `site`: the site whose slug is the input's `site`;
 * `sites`: the site that the input names, or by default all sites of the caller (`context.visibleSites`);
 * `object`: the site of the object that `find` looks up.
 */
export type Scope = 'network' | 'site' | 'sites' | 'object';

/**
 * How the command line reads the input. A member that is not positional is an option: `ae_title` becomes `--ae-title`. A list option
 * can be repeated, or separated by commas. A boolean that is false by default is a flag; any other takes `on` or `off`.
 */
export interface CommandLine {
	/** The positional members, in order. */
	positionals?: readonly string[];
	/** Option names that differ from the member's name: `{ allowed_ips: 'allow-ip' }`. */
	options?: Readonly<Record<string, string>>;
	/** Names of values in the usage line, for members whose name and schema do not say enough. */
	values?: Readonly<Record<string, string>>;
	/**
	 * Members that can come from a file. `text`: `@file` stands for the content of the file; `content`: the value is the file's name, and the
	 * member its text; `base64`: the same with its bytes.
	 */
	files?: Readonly<Record<string, 'text' | 'content' | 'base64'>>;
	/** The positional can be repeated. The operation runs once for each, in order, and the results form a list. */
	repeated?: boolean;
	/** The command repeats the operation and prints what is new, until it is ended. */
	follows?: boolean;
	/** Tells by the result that the command ends with 1. */
	isFailure?(result: unknown): boolean;
	/** Tells by the result how the command ends, where failing or not does not say enough. */
	exitCode?(result: unknown): number;
	/** Writes the result for people, where lines and tables do not do. */
	text?(result: unknown): string;
	/** The operation is another command with a flag: `{ command: 'messages list', flag: 'unmatched' }`. */
	within?: { command: string; flag: string };
}

/** An object that the input names, with the slug of its site. */
export interface Found<Thing> {
	site: string;
	found: Thing;
}

/**
 * One administrative operation. Validation, the command line, the routes of the admin API, their authorization and the OpenAPI
 * document are all derived from it.
 */
export interface Operation<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType, Thing = unknown> {
	/** Noun and verb, as on the command line: `key create`. The operationId joins them with a hyphen. */
	name: `${string} ${string}`;
	summary: string;
	/** GET changes nothing. For GET, members of the input outside the path are query parameters; otherwise they form the JSON body. */
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** The path below /api/v1. `{id}` is a member of the input. */
	path: `/${string}`;
	/** The lowest role that may call it. */
	role: Role;
	scope: Scope;
	/** `none`: it only reads, the default for GET. `noted`: it only reads, and the audit trail records the reader. */
	effect?: 'none' | 'noted' | 'change';
	input: Input;
	output: Output;
	/** `none`: only the admin API has it. */
	commandLine: CommandLine | 'none';
	/** For the scope `object`, the noun in error texts: `integration client`. */
	called?: string;
	/**
	 * For the scope `object`, looks the object up once; `run` receives it. Returns null if the object does not exist. The caller gets the
	 * same answer for an object of a site without access.
	 */
	find?(context: OperationContext, input: z.output<Input>): Promise<Found<Thing> | null>;
	/**
	 * An input that the OpenAPI document shows. It succeeds after the examples before it in the table have run. `idOf` gives the id that
	 * another operation's example returned. For a list it is that of the first item, or of the item at an index.
	 */
	example?: z.input<Input> | ((idOf: (operation: string, index?: number) => string) => z.input<Input>);
	/** @param found the object from `find`, as it was before any change. A change reads what it compares in its own transaction */
	run(context: OperationContext, input: z.output<Input>, found: Thing): Promise<z.input<Output>>;
}

export function effectOf({ effect, method }: Operation): 'none' | 'noted' | 'change' {
	return effect ?? (method === 'GET' ? 'none' : 'change');
}

/** Keeps the types of each operation, although the table has one type for all. */
export function defineOperation<Input extends z.ZodObject, Output extends z.ZodType, Thing>(
	operation: Operation<Input, Output, Thing>,
): Operation {
	return operation as unknown as Operation;
}
