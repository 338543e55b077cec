import type { z } from 'zod';
import type { Role } from '#core/role.ts';
import type { OperationContext } from './context.ts';

export { type Role, roles } from '#core/role.ts';

/**
 * Whom an operation is about, and so who may call it:
 * `network`: all sites or none (users, new sites); administrators, or whoever has the role where it only reads;
 * `site`: the site that the input names by its slug, as `site`;
 * `sites`: the site that the input names, or without one all sites of the caller: `context.visibleSites`;
 * `object`: the site of what the input names, which `siteOf` finds.
 */
export type Scope = 'network' | 'site' | 'sites' | 'object';

/** How the command line takes the input; members that are neither are not taken by it. */
export interface CommandLine {
	/** Members that stand without a name, in their order. */
	positionals?: readonly string[];
	/** Member → the name of its option where that is another: `{ allowed_ips: 'allow-ip' }`. Lists may be given more than once, and with commas. */
	options?: Readonly<Record<string, string>>;
}

/**
 * One thing that can be administered. Validation, the command line, the routes of the admin API, their authorization and the
 * OpenAPI document all follow from it.
 */
export interface Operation<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> {
	/** Noun and verb, as the command line says them: `key create`; also the operationId. */
	name: `${string} ${string}`;
	summary: string;
	/** GET changes nothing. Members of the input that the path does not name are its query, else the JSON body. */
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Below /api/v1; `{id}` is a member of the input. */
	path: `/${string}`;
	/** The least role that may call it. */
	role: Role;
	scope: Scope;
	input: Input;
	output: Output;
	/** `none`: by the admin API alone. */
	commandLine: CommandLine | 'none';
	/** For the scope `object`: the slug of its site; null: there is no such object, which a caller cannot tell from a foreign one. */
	siteOf?(context: OperationContext, input: z.output<Input>): Promise<string | null>;
	run(context: OperationContext, input: z.output<Input>): Promise<z.input<Output>>;
}

/** Keeps the types of one operation while the table holds many. */
export function defineOperation<Input extends z.ZodObject, Output extends z.ZodType>(operation: Operation<Input, Output>): Operation {
	return operation as unknown as Operation;
}
