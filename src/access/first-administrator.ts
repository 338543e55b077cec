import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '#core/id.ts';
import type { StatementRunner } from '#storage/connection.ts';
import { addFirstAdministrator, countUsers, renewFirstPassword } from '#storage/statements/administrative/sign-in.ts';
import { oneTimePassword, type Passwords } from './password.ts';

/** The first administrator's address, which nobody can have elsewhere. */
const firstEmail = 'admin@localhost';

/** It is there from before the password is made until it was shown, so a start that fails in between leaves it behind. */
const notShown = (dataDir: string): string => join(dataDir, 'first-password-not-shown');

/**
 * If there are no users yet, adds an administrator whose password is shown only once. If a start of this node failed before it showed that
 * password, and nobody has used the account or given it another one, makes a new one.
 */
export async function firstAdministrator(
	database: StatementRunner,
	passwords: Passwords,
	dataDir: string,
): Promise<{ email: string; password: string } | undefined> {
	const [row] = await database.run(countUsers, []);
	const isFirst = row?.[0] === '0';
	const mark = notShown(dataDir);
	if (!isFirst && !existsSync(mark)) return undefined;
	if (isFirst) {
		mkdirSync(dataDir, { recursive: true });
		writeFileSync(mark, '', { mode: 0o600 });
	}
	const password = oneTimePassword();
	const hash = await passwords.hash(password);
	const made = isFirst
		? await database.run(addFirstAdministrator, [newId(), firstEmail, hash, newId()])
		: await database.run(renewFirstPassword, [firstEmail, hash, newId()]);
	if (made.length > 0) return { email: firstEmail, password };
	firstPasswordShown(dataDir);
	return undefined;
}

/** Whoever has shown the password says so. */
export function firstPasswordShown(dataDir: string): void {
	rmSync(notShown(dataDir), { force: true });
}
