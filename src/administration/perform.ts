import type { z } from 'zod';
import { roles } from '#core/role.ts';
import { AdministrationError, type OperationContext } from './context.ts';
import { pathMembers } from './members.ts';
import type { Operation } from './operation.ts';

/** As a surface gives it: what the actor sees follows from the operation. */
export type CallerContext = Omit<OperationContext, 'visibleSites'>;

/**
 * Carries out an operation for somebody: the one place that decides who may do what.
 * @throws AdministrationError forbidden: the role is too low, or the site that is named is none of the actor's, be there one or not;
 * form: names the member at fault; not-found: what is named is not there or of a foreign site, which are told alike
 */
export async function perform(operation: Operation, caller: CallerContext, given: unknown): Promise<unknown> {
	const { role, sites } = caller.actor;
	if (roles.indexOf(role) < roles.indexOf(operation.role)) {
		throw new AdministrationError(`'${operation.name}' is not for the role ${role}`, 'forbidden');
	}
	if (operation.scope === 'network' && sites !== 'all') {
		throw new AdministrationError(`'${operation.name}' is for who administers all sites`, 'forbidden');
	}
	const parsed = operation.input.safeParse(given);
	if (!parsed.success) throw formError(parsed.error);
	const input = parsed.data;
	const named = typeof input['site'] === 'string' ? input['site'] : undefined;
	if (named !== undefined && sites !== 'all' && !sites.includes(named)) {
		throw new AdministrationError(`the site '${named}' is none of yours`, 'forbidden', 'site');
	}
	const context: OperationContext = { ...caller, visibleSites: named === undefined ? sites : [named] };
	const found = operation.scope === 'object' ? await findObject(operation, context, input) : undefined;
	return operation.run(context, input, found);
}

async function findObject(operation: Operation, context: OperationContext, input: Record<string, unknown>): Promise<unknown> {
	if (operation.find === undefined) throw new Error(`'${operation.name}' does not say whose its objects are`);
	const { sites } = context.actor;
	const object = await operation.find(context, input);
	if (object === null || (sites !== 'all' && !sites.includes(object.site))) {
		const [member = 'id'] = pathMembers(operation.path);
		throw new AdministrationError(`there is no ${operation.called ?? 'such object'} '${String(input[member])}'`, 'not-found', member);
	}
	return object.found;
}

/** Names every member at fault, and as the field the first. */
function formError(error: z.ZodError): AdministrationError {
	const text = error.issues.map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`).join('; ');
	const field = error.issues[0]?.path[0];
	return new AdministrationError(text, 'form', field === undefined ? undefined : String(field));
}
