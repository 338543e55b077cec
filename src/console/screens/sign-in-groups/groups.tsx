import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Form, list, text } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { useSites } from '../../scope.ts';
import { allSites, isAuditor, role, siteChoices } from '../users/fields.ts';
import { RoleBadge } from '../users/users.tsx';
import { addGroup, type GroupRecord, listGroups, removeGroup } from './calls.ts';
import { SecondFactorPolicy } from './policy.tsx';

const columns = (remove: (group: GroupRecord) => void): readonly Column<GroupRecord>[] => [
	{ name: 'name', title: 'Group', cell: ({ name }) => <code>{name}</code> },
	{ name: 'role', title: 'Role', tight: true, cell: (group) => <RoleBadge role={group.role} /> },
	{
		name: 'sites',
		title: 'Sites',
		cell: ({ sites, all_sites: all, role: of }) =>
			all || of === 'administrator' ? <span class="muted">all</span> : <code>{sites.join(', ')}</code>,
	},
	{ name: 'created', title: 'Added', spare: true, tight: true, cell: ({ created_at }) => <Time at={created_at} /> },
	{
		name: 'actions',
		title: '',
		tight: true,
		cell: (group) => (
			<div class="row-actions">
				<Button onClick={() => remove(group)}>Remove…</Button>
			</div>
		),
	},
];

/** Shows what groups of the sign-in provider give their members. */
export function SignInGroups() {
	const answer = useAnswer((signal) => listGroups({}, signal), []);
	const [adding, setAdding] = useState(false);
	const [removing, setRemoving] = useState<GroupRecord>();
	const add = (
		<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
			New group
		</Button>
	);
	return (
		<Page
			title="Sign-in groups"
			lead="A group of the OIDC provider gives its members a role at sites. It is read at each sign-in. A person with several roles gets the highest, with the sites that come with it."
			actions={add}
		>
			<ListTable
				list={wholeList(answer)}
				caption="Sign-in groups"
				noun="group"
				columns={columns(setRemoving)}
				identify={({ id }) => id}
				empty={
					<Empty icon="users" title="No sign-in groups yet">
						<p>People of the OIDC provider can sign in as soon as one of their groups has a role here.</p>
						{add}
					</Empty>
				}
			/>
			<SecondFactorPolicy />
			{adding && (
				<NewGroup
					onClose={() => setAdding(false)}
					onAdded={() => {
						setAdding(false);
						say('The group is added. People who signed in through the provider have to sign in again.');
						answer.reload();
					}}
				/>
			)}
			{removing && (
				<Confirm
					title={`Remove ${removing.name}?`}
					action="Remove group"
					danger
					onClose={() => setRemoving(undefined)}
					onConfirm={async () => {
						await removeGroup({ id: removing.id });
						say('The group is removed.');
						setRemoving(undefined);
						answer.reload();
					}}
				>
					<p>
						Its members lose the role that it gives them. Everybody who signed in through the provider is signed out and has to sign in
						again.
					</p>
				</Confirm>
			)}
		</Page>
	);
}

function NewGroup({ onClose, onAdded }: { onClose(): void; onAdded(): void }) {
	const sites = useSites();
	return (
		<Dialog title="New sign-in group" onClose={onClose}>
			<Form
				groups={[
					{
						fields: [
							{
								kind: 'text',
								name: 'name',
								label: 'Group',
								required: true,
								code: true,
								maxLength: 255,
								placeholder: 'radiology-managers',
								hint: 'The name of the group, as the provider states it in the claim.',
							},
							role,
						],
					},
					{ fields: [allSites], when: isAuditor },
					{ fields: [siteChoices(sites)], when: (values) => values['role'] !== 'administrator' },
				]}
				initial={{ name: '', role: 'manager', all_sites: false, sites: [] }}
				action="Add group"
				onCancel={onClose}
				onSubmit={async (values) => {
					const isAdministrator = values['role'] === 'administrator';
					await addGroup({
						name: text(values, 'name'),
						role: text(values, 'role') as GroupRecord['role'],
						sites: isAdministrator ? [] : list(values, 'sites'),
						all_sites: isAuditor(values) && values['all_sites'] === true,
					});
					onAdded();
				}}
			/>
		</Dialog>
	);
}
