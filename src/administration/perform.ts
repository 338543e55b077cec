import type { z } from 'zod';
import { roles } from '#core/role.ts';
import { AdministrationError, type OperationContext } from './context.ts';
import { faultsOf, faultText } from './input-faults.ts';
import { pathMembers } from './members.ts';
import type { Operation } from './operation.ts';

/** The context that a surface provides. `perform` adds the visible sites. */
export type CallerContext = Omit<OperationContext, 'visibleSites'>;

/**
 * Carries out an operation. This is the only place that decides who may do what.
 * @throws AdministrationError `forbidden` if the role is too low, or if the actor has no access to the named site, whether it exists or
 * not; `form` with the invalid member; `not-found` if the object does not exist or belongs to a site without access
 */
export async function perform(operation: Operation, caller: CallerContext, given: unknown): Promise<unknown> {
	const { role, sites } = caller.actor;
	if (roles.indexOf(role) < roles.indexOf(operation.role)) {
		throw new AdministrationError(`'${operation.name}' is not permitted for the role ${role}`, 'forbidden');
	}
	if (operation.scope === 'network' && sites !== 'all') {
		throw new AdministrationError(`'${operation.name}' requires an administrator of all sites`, 'forbidden');
	}
	const parsed = operation.input.safeParse(given);
	if (!parsed.success) throw formError(parsed.error);
	const input = parsed.data;
	const named = typeof input['site'] === 'string' ? input['site'] : undefined;
	if (named !== undefined && sites !== 'all' && !sites.includes(named)) {
		throw new AdministrationError(`you do not have access to the site '${named}'`, 'forbidden', 'site');
	}
	const context: OperationContext = { ...caller, visibleSites: named === undefined ? sites : [named] };
	const found = operation.scope === 'object' ? await findObject(operation, context, input) : undefined;
	return operation.run(context, input, found);
}

async function findObject(operation: Operation, context: OperationContext, input: Record<string, unknown>): Promise<unknown> {
	if (operation.find === undefined) throw new Error(`the operation '${operation.name}' does not define 'find'`);
	const { sites } = context.actor;
	const object = await operation.find(context, input);
	if (object === null || (sites !== 'all' && !sites.includes(object.site))) {
		const [member = 'id'] = pathMembers(operation.path);
		throw new AdministrationError(`there is no ${operation.called ?? 'such object'} '${String(input[member])}'`, 'not-found', member);
	}
	return object.found;
}

/** The text names every invalid member; `field` names the first. */
function formError(error: z.ZodError): AdministrationError {
	const faults = faultsOf(error);
	const field = faults[0]?.member;
	return new AdministrationError(faults.map((fault) => faultText(fault)).join('; '), 'form', field === '' ? undefined : field);
}
