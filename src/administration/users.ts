import { z } from 'zod';
import { oneTimePassword } from '#access/password.ts';
import { newId } from '#core/id.ts';
import { type Role, roles } from '#core/role.ts';
import { type EntityManager, runInTransaction, User } from '#storage/entities/index.ts';
import { resetSecondFactor as takeSecondFactor } from '#storage/statements/administrative/second-factor.ts';
import { endSessionsOf, listSignInSessions, unlockAccount } from '#storage/statements/administrative/sign-in.ts';
import { type AdministrationContext, AdministrationError, change, type OperationContext } from './context.ts';
import { instant } from './schemas.ts';
import { siteBySlug } from './sites.ts';

const slugs = z.array(z.string()).max(5000);
const ofAllSites = 'gives an auditor access to all sites, including future ones; an administrator always has it';

export const addUserInput = z.strictObject({
	email: z.email(),
	admin: z.boolean().default(false).describe('short for the role administrator'),
	role: z.enum(roles).optional().describe('manager by default'),
	sites: slugs.default([]),
	all_sites: z.boolean().default(false).describe(ofAllSites),
});
export const setUserInput = z.strictObject({
	email: z.string(),
	role: z.enum(roles).optional(),
	sites: slugs.optional().describe('the complete list of sites; a user without sites sees nothing'),
	all_sites: z.boolean().optional().describe(ofAllSites),
	sign_in: z
		.enum(['local', 'provider'])
		.optional()
		.describe('provider: the account waits for whoever signs in by the OIDC provider with its address; its password ends'),
});

export const userRecord = z.strictObject({
	id: z.uuid(),
	email: z.string(),
	admin: z.boolean(),
	role: z.enum(roles),
	sites: z.array(z.string()),
	all_sites: z.boolean().describe(ofAllSites),
	active: z.boolean(),
	created_at: instant,
	last_sign_in_at: instant
		.optional()
		.describe('the last sign-in to the console; missing if there was none, or none since the release that began to record it'),
	second_factor: z.literal(true).optional().describe('the user enters a code of an authenticator app to sign in'),
	sign_in: z.literal('provider').optional().describe('the OIDC provider signs the user in, and its groups decide the role and the sites'),
});
export type UserRecord = z.infer<typeof userRecord>;
export const newPassword = z.strictObject({ email: z.string(), password: z.string().describe('shown only once') });

function record(user: User): UserRecord {
	return {
		id: user.id,
		email: user.email,
		admin: user.role === 'administrator',
		role: user.role,
		sites: user.sites
			.getItems()
			.map((site) => site.slug)
			.sort(),
		all_sites: user.allSites,
		active: user.active,
		created_at: user.createdAt.toISOString(),
		...(user.signIn === 'provider' && { sign_in: user.signIn }),
		...(user.secondFactor && { second_factor: true as const }),
	};
}

/** Returns the user as the console and the command line show it. The audit trail keeps the record without the time of the last sign-in. */
function shown(user: User): UserRecord {
	return { ...record(user), ...(user.signedInAt && { last_sign_in_at: user.signedInAt.toISOString() }) };
}

export async function userByEmail(em: EntityManager, email: string): Promise<User> {
	const user = await em.findOne(User, { email: email.toLowerCase() }, { populate: ['sites'] });
	if (!user) throw new AdministrationError(`there is no user '${email}'`, 'not-found');
	return user;
}

export function addUser(context: AdministrationContext, input: z.input<typeof addUserInput>): Promise<UserRecord> {
	return change(context, async (em) => {
		const email = input.email.toLowerCase();
		const { admin, role = admin ? 'administrator' : 'manager' } = input;
		if (admin && role !== 'administrator') {
			throw new AdministrationError(`role: admin cannot be combined with the role ${role}`, 'form', 'role');
		}
		const { all_sites: allSites = false } = input;
		refuseReach(role, allSites);
		if (await em.findOne(User, { email })) {
			throw new AdministrationError(`the user '${email}' already exists`, 'conflict', 'email');
		}
		const user = em.create(User, {
			id: newId(context.nowMs()),
			email,
			passwordHash: null,
			oneTimeSince: null,
			role,
			allSites,
			active: true,
			createdAt: new Date(context.nowMs()),
			providerIssuer: null,
			providerSubject: null,
		});
		for (const slug of input.sites ?? []) user.sites.add(await siteBySlug(em, slug));
		const after = record(user);
		return [after, { action: 'user.add', subject: email, siteId: null, after }];
	});
}

/** A caller without access to all sites sees the users of their sites, and of each user only the sites they share. */
export async function listUsers({ em, visibleSites }: AdministrationContext): Promise<UserRecord[]> {
	const users = (await em.fork().findAll(User, { orderBy: { email: 'asc' }, populate: ['sites'] })).map(shown);
	if (visibleSites === 'all') return users;
	return users
		.map((user) => ({ ...user, sites: user.sites.filter((slug) => visibleSites.includes(slug)) }))
		.filter(({ sites }) => sites.length > 0);
}

export async function showUser({ em }: AdministrationContext, email: string): Promise<UserRecord> {
	return shown(await userByEmail(em.fork(), email));
}

/** Otherwise the last administrator could lock everyone out. */
function refuseOneself({ actor }: AdministrationContext, { email }: User): void {
	if (actor.name === email) throw new AdministrationError('you cannot change your own role or disable yourself; ask another administrator');
}

export function refuseReach(role: Role, allSites: boolean): void {
	if (allSites && role !== 'auditor') throw new AdministrationError(`all_sites: only the role auditor takes it`, 'form', 'all_sites');
}

/** A changed way ends the sessions. A local account needs a password, which `user reset-password` makes. */
async function setWay(em: EntityManager, user: User, input: z.infer<typeof setUserInput>): Promise<void> {
	const { sign_in: way = user.signIn, role, sites, all_sites: allSites } = input;
	if (way === 'provider' && (role ?? sites ?? allSites) !== undefined)
		throw new AdministrationError('the groups of the sign-in provider decide the role and the sites of this user');
	if (input.sign_in === undefined || (way === 'local' && user.signIn === 'local')) return;
	user.signIn = way;
	user.passwordHash = null;
	user.oneTimeSince = null;
	user.providerIssuer = null;
	user.providerSubject = null;
	await runInTransaction(em, endSessionsOf, [user.id]);
}

/** When the role changes, the user's sign-in sessions end with their next call (access/sessions). */
export function setUser(context: AdministrationContext, input: z.infer<typeof setUserInput>): Promise<UserRecord> {
	const { email, role, sites } = input;
	return change(context, async (em) => {
		const user = await userByEmail(em, email);
		refuseOneself(context, user);
		const before = record(user);
		await setWay(em, user, input);
		if (role !== undefined) user.role = role;
		// A change of role ends the access of an auditor to all sites.
		user.allSites = input.all_sites ?? (user.allSites && user.role === 'auditor');
		refuseReach(user.role, user.allSites);
		if (sites !== undefined) user.sites.set(await Promise.all(sites.map((slug) => siteBySlug(em, slug))));
		const after = record(user);
		return [shown(user), { action: 'user.set', subject: user.email, siteId: null, before, after }];
	});
}

/** The keys of a disabled user are refused, and their sign-in sessions end. */
export function enableUser(context: AdministrationContext, email: string, active: boolean): Promise<UserRecord> {
	return change(context, async (em) => {
		const user = await userByEmail(em, email);
		refuseOneself(context, user);
		const before = record(user);
		user.active = active;
		if (!active) await runInTransaction(em, endSessionsOf, [user.id]);
		const after = record(user);
		return [shown(user), { action: active ? 'user.enable' : 'user.disable', subject: user.email, siteId: null, before, after }];
	});
}

/** Sets a one-time password, shown only once. It ends the user's sign-in sessions and unlocks the account. */
export async function resetPassword(context: AdministrationContext, email: string): Promise<z.infer<typeof newPassword>> {
	const password = oneTimePassword();
	const passwordHash = await context.passwords.hash(password);
	return change(context, async (em) => {
		const user = await userByEmail(em, email);
		if (user.signIn === 'provider')
			throw new AdministrationError(
				`the user signs in by the provider; 'user set ${user.email} --sign-in local' makes the account a local one`,
			);
		user.passwordHash = passwordHash;
		user.oneTimeSince = new Date(context.nowMs());
		await runInTransaction(em, unlockAccount, [user.email]);
		return [
			{ email: user.email, password },
			{ action: 'user.reset-password', subject: user.email, siteId: null },
		];
	});
}

/** Takes the second factor from a user who has lost it. The sign-in sessions end, and the password alone lets the user in. */
export function resetSecondFactor(context: AdministrationContext, email: string): Promise<UserRecord> {
	return change(context, async (em) => {
		const user = await userByEmail(em, email);
		const { second_factor: _had, ...after } = shown(user);
		await runInTransaction(em, takeSecondFactor, [user.id]);
		await runInTransaction(em, endSessionsOf, [user.id]);
		return [after, { action: 'user.reset-second-factor', subject: user.email, siteId: null }];
	});
}

export const listSessionsInput = z.strictObject({ email: z.string().optional().describe('only the sessions of this user') });
export const sessionRecord = z.strictObject({
	email: z.string(),
	began_at: instant,
	seen_at: instant.describe('the time of the last request, exact to a tenth of SESSION_IDLE_MS_MAX'),
	source: z.string().describe('the IP address from which the user signed in'),
});
export type SessionRecord = z.infer<typeof sessionRecord>;

/** One list has at most this many sessions. */
export const sessionsMax = 1000;

/** Lists the sessions that are valid now, the one used last first. */
export async function listSessionsOf(
	{ em, database, limits }: OperationContext,
	{ email }: z.infer<typeof listSessionsInput>,
): Promise<SessionRecord[]> {
	const user = email === undefined ? null : (await userByEmail(em.fork(), email)).email;
	const values = [user, limits.sessionIdleMsMax, limits.sessionMsMax, sessionsMax];
	const rows = await database.rows<{ email: string; began_at: Date; seen_at: Date; source: string }>(listSignInSessions, values);
	return rows.map(({ began_at: began, seen_at: seen, ...row }) => ({ ...row, began_at: began.toISOString(), seen_at: seen.toISOString() }));
}

/** Signs a user out everywhere. The password is not changed, so the user can sign in again. */
export function endSessions(context: AdministrationContext, email: string): Promise<UserRecord> {
	return change(context, async (em) => {
		const user = await userByEmail(em, email);
		await runInTransaction(em, endSessionsOf, [user.id]);
		return [shown(user), { action: 'user.end-sessions', subject: user.email, siteId: null }];
	});
}
