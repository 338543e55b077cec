import { z } from 'zod';
import { hashPassword, oneTimePassword } from '#access/password.ts';
import { newId } from '#core/id.ts';
import { type EntityManager, User } from '#storage/entities/index.ts';
import { type AdministrationContext, AdministrationError, change } from './context.ts';
import { siteBySlug } from './sites.ts';

export const addUserInput = z.strictObject({ email: z.email(), admin: z.boolean().default(false), sites: z.array(z.string()).default([]) });

export interface UserRecord {
	id: string;
	email: string;
	admin: boolean;
	sites: string[];
	active: boolean;
	created_at: string;
}

function record(user: User): UserRecord {
	return {
		id: user.id,
		email: user.email,
		admin: user.role === 'administrator',
		sites: user.sites
			.getItems()
			.map((site) => site.slug)
			.sort(),
		active: user.active,
		created_at: user.createdAt.toISOString(),
	};
}

export async function userByEmail(em: EntityManager, email: string): Promise<User> {
	const user = await em.findOne(User, { email: email.toLowerCase() }, { populate: ['sites'] });
	if (!user) throw new AdministrationError(`there is no user '${email}'`);
	return user;
}

export function addUser(context: AdministrationContext, input: z.infer<typeof addUserInput>): Promise<UserRecord> {
	return change(context, async (em) => {
		const email = input.email.toLowerCase();
		if (await em.findOne(User, { email })) throw new AdministrationError(`there is a user '${email}' already`);
		const user = em.create(User, {
			id: newId(context.nowMs()),
			email,
			passwordHash: null,
			mustChangePassword: false,
			role: input.admin ? 'administrator' : 'manager',
			active: true,
			createdAt: new Date(context.nowMs()),
		});
		for (const slug of input.sites) user.sites.add(await siteBySlug(em, slug));
		return [record(user), { action: 'user.add', subject: email, siteId: null, detail: { admin: input.admin, sites: input.sites } }];
	});
}

export async function listUsers({ em }: AdministrationContext): Promise<UserRecord[]> {
	return (await em.fork().findAll(User, { orderBy: { email: 'asc' }, populate: ['sites'] })).map(record);
}

/** The keys of a disabled user are refused. */
export function disableUser(context: AdministrationContext, email: string): Promise<UserRecord> {
	return change(context, async (em) => {
		const user = await userByEmail(em, email);
		user.active = false;
		return [record(user), { action: 'user.disable', subject: user.email, siteId: null, detail: {} }];
	});
}

/** A new password, shown this once and to be changed at the next sign-in. Sessions of the user end. */
export async function resetPassword(context: AdministrationContext, email: string): Promise<{ email: string; password: string }> {
	const password = oneTimePassword();
	const passwordHash = await hashPassword(password);
	return change(context, async (em) => {
		const user = await userByEmail(em, email);
		user.passwordHash = passwordHash;
		user.mustChangePassword = true;
		return [
			{ email: user.email, password },
			{ action: 'user.reset-password', subject: user.email, siteId: null, detail: {} },
		];
	});
}
