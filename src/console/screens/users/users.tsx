import { useState } from 'preact/hooks';
import type { UserRecord } from '#administration/users.ts';
import { useAnswer, wholeList } from '../../answers.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { activityColumn, createdColumn } from '../../components/columns.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Form, list, text } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { SearchField } from '../../components/search.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { useFilters } from '../../filters.ts';
import { pageOf } from '../../pages.ts';
import { useSites } from '../../scope.ts';
import { addUser, listUsers, resetPassword } from './calls.ts';
import { allSites, isAuditor, role, siteChoices } from './fields.ts';
import { OneTimePassword } from './one-time-password.tsx';
import { Sessions } from './sessions.tsx';

const tones: Record<UserRecord['role'], Tone> = { administrator: 'info', manager: 'good', auditor: 'neutral' };

export function RoleBadge({ role: name }: Pick<UserRecord, 'role'>) {
	return <Badge tone={tones[name]}>{name}</Badge>;
}

const columns: readonly Column<UserRecord>[] = [
	{ name: 'email', title: 'E-mail', by: ({ email }) => email, cell: ({ email }) => email },
	{ name: 'role', title: 'Role', by: ({ role }) => role, tight: true, cell: (user) => <RoleBadge role={user.role} /> },
	{
		name: 'sites',
		title: 'Sites',
		cell: ({ sites, all_sites: all, admin }) =>
			sites.length > 0 && !all ? <code>{sites.join(', ')}</code> : <span class="muted">{all || admin ? 'all' : 'none'}</span>,
	},
	{
		name: 'signed-in',
		title: 'Last sign-in',
		by: ({ last_sign_in_at: at }) => at ?? null,
		tight: true,
		cell: ({ last_sign_in_at: at }) => <Ago at={at ?? null} never="none known" />,
	},
	createdColumn(),
	activityColumn(),
];

export function Users() {
	const answer = useAnswer((signal) => listUsers({}, signal), []);
	const [{ search }, setFilters] = useFilters({ search: '' });
	const [adding, setAdding] = useState(false);
	const [password, setPassword] = useState<{ email: string; password: string }>();
	const rows = (answer.data ?? []).filter(({ email }) => email.includes(search.trim().toLowerCase()));
	return (
		<Page
			title="Users"
			lead="These people sign in here or own API keys."
			actions={
				<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
					New user
				</Button>
			}
		>
			<SearchField label="Search users" value={search} onValue={(value) => setFilters({ search: value })} placeholder="E-mail" />
			<ListTable
				list={wholeList(answer, rows)}
				caption="Users"
				noun="user"
				columns={columns}
				identify={({ id }) => id}
				href={({ email }) => pageOf('user', { email })}
				faded={({ active }) => !active}
				empty={<Empty icon="users" title={search === '' ? 'No users yet' : 'No users match the search'} />}
			/>
			<Sessions />
			{adding && (
				<NewUser
					onClose={() => setAdding(false)}
					onAdded={(made) => {
						setAdding(false);
						setPassword(made);
						answer.reload();
					}}
				/>
			)}
			{password && <OneTimePassword made={password} onClose={() => setPassword(undefined)} />}
		</Page>
	);
}

function NewUser({ onClose, onAdded }: { onClose(): void; onAdded(made: { email: string; password: string }): void }) {
	const sites = useSites();
	return (
		<Dialog title="New user" onClose={onClose}>
			<Form
				groups={[
					{
						fields: [{ kind: 'email', name: 'email', label: 'E-mail', required: true, placeholder: 'ann.weiss@example.org' }, role],
					},
					{ fields: [allSites], when: isAuditor },
					{ fields: [siteChoices(sites)] },
				]}
				initial={{ email: '', role: 'manager', all_sites: false, sites: [] }}
				action="Create user"
				onCancel={onClose}
				onSubmit={async (values) => {
					const user = await addUser({
						email: text(values, 'email'),
						role: text(values, 'role') as UserRecord['role'],
						sites: list(values, 'sites'),
						all_sites: isAuditor(values) && values['all_sites'] === true,
					});
					onAdded(await resetPassword({ email: user.email }));
				}}
			/>
		</Dialog>
	);
}
