import { useState } from 'preact/hooks';
import type { UserRecord } from '#administration/users.ts';
import { useAnswer } from '../../answers.ts';
import { Activity } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Loading } from '../../components/empty.tsx';
import { changed, Form } from '../../components/form.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { say } from '../../components/toast.tsx';
import { useSites } from '../../scope.ts';
import type { ScreenProps } from '../../screen.ts';
import { currentUser } from '../../session.ts';
import { disableUser, enableUser, resetPassword, resetSecondFactor, setUser, showUser } from './calls.ts';
import { allSites, isAuditor, role, siteChoices } from './fields.ts';
import { OneTimePassword } from './one-time-password.tsx';
import { Sessions } from './sessions.tsx';
import { RoleBadge } from './users.tsx';

const up = { href: '/users', title: 'Users' };

export function User({ parameters: { email = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => showUser({ email }, signal), [email]);
	if (answer.data === undefined) {
		return (
			<Page title={email} up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading />}
			</Page>
		);
	}
	return <Shown user={answer.data} reload={answer.reload} />;
}

function Shown({ user, reload }: { user: UserRecord; reload(): void }) {
	const sites = useSites();
	const [asking, setAsking] = useState<'toggle' | 'password' | 'factor'>();
	const [made, setMade] = useState<{ email: string; password: string }>();
	const self = currentUser()?.email === user.email;
	const initial = { role: user.role, all_sites: user.all_sites, sites: user.sites };
	const actions = (
		<>
			{user.sign_in === undefined && (
				<Button icon="keys" onClick={() => setAsking('password')}>
					One-time password…
				</Button>
			)}
			{user.second_factor && (
				<Button icon="keys" onClick={() => setAsking('factor')}>
					Reset second factor…
				</Button>
			)}
			{!self && (
				<Button icon={user.active ? 'close' : 'check'} onClick={() => setAsking('toggle')}>
					{user.active ? 'Disable…' : 'Enable…'}
				</Button>
			)}
		</>
	);
	const marks = (
		<>
			<Activity active={user.active} />
			<RoleBadge role={user.role} />
		</>
	);
	return (
		<Page title={user.email} up={up} marks={marks} actions={actions}>
			<Panel title="Role and sites">
				{user.sign_in === 'provider' && (
					<p class="note">The sign-in provider lets this user in, and the groups there decide role and sites.</p>
				)}
				{self && <p class="note">This is your own account. Only another administrator can change your role.</p>}
				<Form
					key={JSON.stringify(initial)}
					groups={[{ fields: [role] }, { fields: [allSites], when: isAuditor }, { fields: [siteChoices(sites)] }]}
					initial={initial}
					action="Save"
					fixed={self || user.sign_in === 'provider'}
					onlyChanged
					onSubmit={async (values) => {
						const all = isAuditor(values) && values['all_sites'] === true;
						await setUser({ email: user.email, ...changed(initial, { ...values, all_sites: all }) });
						say('Saved. It takes effect with the user’s next request.');
						reload();
					}}
				/>
			</Panel>
			<Sessions email={user.email} />
			{asking === 'toggle' && <Toggle user={user} onClose={() => setAsking(undefined)} reload={reload} />}
			{asking === 'factor' && (
				<Confirm
					title="Reset the second factor?"
					action="Reset second factor"
					onClose={() => setAsking(undefined)}
					onConfirm={async () => {
						await resetSecondFactor({ email: user.email });
						say('The second factor is removed.');
						setAsking(undefined);
						reload();
					}}
				>
					<p>
						{user.email} signs in with the password alone until a new second factor is set up, and is signed out everywhere. Make sure that
						it is the user who asks.
					</p>
				</Confirm>
			)}
			{asking === 'password' && (
				<Confirm
					title="Create a one-time password?"
					action="Create password"
					onClose={() => setAsking(undefined)}
					onConfirm={async () => {
						setMade(await resetPassword({ email: user.email }));
						setAsking(undefined);
					}}
				>
					<p>The present password of {user.email} no longer works, and the user is signed out everywhere.</p>
				</Confirm>
			)}
			{made && <OneTimePassword made={made} onClose={() => setMade(undefined)} />}
		</Page>
	);
}

function Toggle({ user, onClose, reload }: { user: UserRecord; onClose(): void; reload(): void }) {
	const act = async () => {
		await (user.active ? disableUser : enableUser)({ email: user.email });
		say(user.active ? `${user.email} is disabled.` : `${user.email} is enabled.`);
		onClose();
		reload();
	};
	if (!user.active) {
		return (
			<Confirm title={`Enable ${user.email}?`} action="Enable user" onConfirm={act} onClose={onClose}>
				<p>The user can sign in again, and the user’s API keys work again.</p>
			</Confirm>
		);
	}
	return (
		<Confirm title={`Disable ${user.email}?`} action="Disable user" name={user.email} danger onConfirm={act} onClose={onClose}>
			<p>The user is signed out. Within a second, all of the user’s API keys are refused, and systems that use them stop working.</p>
		</Confirm>
	);
}
