import type { z } from 'zod';
import type { Role } from '#core/role.ts';
import type { OperationContext } from './context.ts';

/**
 * Whom an operation is about, and so who may call it, beside the role:
 * `network`: all sites or none (users, new sites); who is of all sites;
 * `site`: the site that the input names by its slug, as `site`;
 * `sites`: the site that the input names, or without one all sites of the caller: `context.visibleSites`;
 * `object`: the site of what the input names, which `find` finds.
 */
export type Scope = 'network' | 'site' | 'sites' | 'object';

/**
 * How the command line takes the input: a member that is no positional is an option, `ae_title` as `--ae-title`. Lists may be given more
 * than once, and with commas. A boolean that is false by default is a flag, any other is `on` or `off`.
 */
export interface CommandLine {
	/** Members that stand without a name, in their order. */
	positionals?: readonly string[];
	/** Member → the name of its option where that is another: `{ allowed_ips: 'allow-ip' }`. */
	options?: Readonly<Record<string, string>>;
	/** Member → what its value is called in the usage line, where its name and its schema do not tell. */
	values?: Readonly<Record<string, string>>;
	/** Member → how a file gives it: `text`: the content of `@file`; `base64`: the value is the name of a file. */
	files?: Readonly<Record<string, 'text' | 'base64'>>;
	/** The positional may be given more than once: the operation is carried out for each in order, and the answers are a list. */
	repeated?: boolean;
	/** The command is another one's with a flag: `{ command: 'messages list', flag: 'unmatched' }`. */
	within?: { command: string; flag: string };
}

/** An object that an input names, with the slug of its site. */
export interface Found<Thing> {
	site: string;
	found: Thing;
}

/**
 * One thing that can be administered. Validation, the command line, the routes of the admin API, their authorization and the
 * OpenAPI document all follow from it.
 */
export interface Operation<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType, Thing = unknown> {
	/** Noun and verb, as the command line says them: `key create`; with a hyphen the operationId. */
	name: `${string} ${string}`;
	summary: string;
	/** GET changes nothing. Members of the input that the path does not name are its query, else the JSON body. */
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Below /api/v1; `{id}` is a member of the input. */
	path: `/${string}`;
	/** The least role that may call it. */
	role: Role;
	scope: Scope;
	/** `none`: it only reads, which is so of GET unless stated. `noted`: it only reads, and the audit trail says who did. */
	effect?: 'none' | 'noted' | 'change';
	input: Input;
	output: Output;
	/** `none`: by the admin API alone. */
	commandLine: CommandLine | 'none';
	/** For the scope `object`: what is found, in words: `integration client`. */
	called?: string;
	/**
	 * For the scope `object`: looks it up, once; `run` is given what was found. Null: there is no such object, which a caller cannot tell
	 * from a foreign one.
	 */
	find?(context: OperationContext, input: z.output<Input>): Promise<Found<Thing> | null>;
	/**
	 * An input that is carried out as it stands where the examples before it in the table were, and that the OpenAPI document shows.
	 * `idOf` gives the id of what another operation's example answered; of a list, of its first, or the one of an index.
	 */
	example?: z.input<Input> | ((idOf: (operation: string, index?: number) => string) => z.input<Input>);
	/** @param found by `find`, which stands before any change: a change reads in its own transaction what it compares */
	run(context: OperationContext, input: z.output<Input>, found: Thing): Promise<z.input<Output>>;
}

export function effectOf({ effect, method }: Operation): 'none' | 'noted' | 'change' {
	return effect ?? (method === 'GET' ? 'none' : 'change');
}

/** Keeps the types of one operation while the table holds many. */
export function defineOperation<Input extends z.ZodObject, Output extends z.ZodType, Thing>(
	operation: Operation<Input, Output, Thing>,
): Operation {
	return operation as unknown as Operation;
}
