import { nilIdSql, type Statement } from '../../statement.ts';
import { afterChange, columnsOfCredential, requiresSecondFactor } from './sign-in.ts';

/** Statements for second factors of local accounts. */

/** Reads the sealed secret of the user `$1`, the one that is being set up, whether one is required, and how many recovery codes are left. */
export const readSecondFactor: Statement = {
	name: 'read_second_factor',
	text: `
select encode(u.second_factor, 'hex'), encode(u.second_factor_pending, 'hex'), ${requiresSecondFactor},
	coalesce(cardinality(u.recovery_codes), 0)
from app_user u where u.id = $1`,
};

export const keepPendingFactor: Statement = {
	name: 'keep_pending_factor',
	text: `update app_user set second_factor_pending = $2 where id = $1 and sign_in = 'local'`,
};

/** Puts the secret `$2` of the user `$1` in force, of which the code of the step `$3` was given, with recovery codes `$4`. */
export const setSecondFactor: Statement = {
	name: 'set_second_factor',
	text: `
with changed as (
	update app_user u
	set second_factor = u.second_factor_pending, second_factor_pending = null, second_factor_step = $3::bigint, recovery_codes = $4::bytea[]
	where u.id = $1 and u.active and u.second_factor_pending = $2
	returning ${columnsOfCredential}
), ${afterChange('$5', ['$6', '$7', '$8'], 'user.set-second-factor')}`,
};

const noFactor = 'second_factor = null, second_factor_pending = null, second_factor_step = null, recovery_codes = null';

/** Takes the second factor from the user `$1`, for the session `$2`. */
export const removeSecondFactor: Statement = {
	name: 'remove_second_factor',
	text: `
with changed as (
	update app_user u set ${noFactor}
	where u.id = $1
	returning ${columnsOfCredential}
), ${afterChange('$2', ['$3', '$4', '$5'], 'user.remove-second-factor')}`,
};

export const replaceRecoveryCodes: Statement = {
	name: 'replace_recovery_codes',
	text: `
with changed as (
	update app_user set recovery_codes = $2::bytea[] where id = $1 and second_factor is not null returning id
)
insert into audit_event (id, recorded_at, site_id, actor, action, subject, source, detail)
select $3, now(), ${nilIdSql}, $4, 'user.renew-recovery-codes', $4, $5, '{}' from changed`,
};

/** Uses up the step `$3` of the secret `$2`, and with it all earlier ones. Returns nothing if it was used. */
export const useFactorStep: Statement = {
	name: 'use_factor_step',
	text: `
update app_user set second_factor_step = $3::bigint
where id = $1 and second_factor = $2 and (second_factor_step is null or second_factor_step < $3::bigint)
returning id`,
};

/** Uses up a recovery code. Returns how many are left. */
export const useRecoveryCode: Statement = {
	name: 'use_recovery_code',
	text: `
update app_user set recovery_codes = array_remove(recovery_codes, $2::bytea)
where id = $1 and second_factor is not null and $2::bytea = any (recovery_codes)
returning cardinality(recovery_codes)`,
};

/** Takes the second factor from the user `$1`, who has lost it. */
export const resetSecondFactor: Statement = {
	name: 'reset_second_factor',
	text: `update app_user set ${noFactor} where id = $1`,
};
