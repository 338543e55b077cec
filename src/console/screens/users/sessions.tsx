import { useState } from 'preact/hooks';
import type { SessionRecord } from '#administration/users.ts';
import { useAnswer, wholeList } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Empty } from '../../components/empty.tsx';
import { Panel } from '../../components/page.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Ago, Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { pageOf } from '../../pages.ts';
import { currentUser } from '../../session.ts';
import { endSessions, listSessions } from './calls.ts';

const columns: readonly Column<SessionRecord>[] = [
	{ name: 'began', title: 'Signed in', by: ({ began_at: at }) => at, tight: true, cell: ({ began_at }) => <Time at={began_at} /> },
	{ name: 'seen', title: 'Last request', by: ({ seen_at: at }) => at, tight: true, cell: ({ seen_at }) => <Ago at={seen_at} /> },
	{ name: 'source', title: 'From', cell: ({ source }) => <code>{source}</code> },
];

const user: Column<SessionRecord> = {
	name: 'user',
	title: 'User',
	by: ({ email }) => email,
	cell: ({ email }) => <a href={pageOf('user', { email })}>{email}</a>,
};

/** Lists the sessions of everybody who is signed in now, or of one user, who can be signed out. */
export function Sessions({ email }: { email?: string }) {
	const answer = useAnswer((signal) => listSessions({ email }, signal), [email]);
	const [asking, setAsking] = useState(false);
	const rows = answer.data ?? [];
	return (
		<Panel
			title="Signed in now"
			actions={
				email !== undefined &&
				rows.length > 0 && (
					<Button icon="close" onClick={() => setAsking(true)}>
						Sign out everywhere…
					</Button>
				)
			}
		>
			<ListTable
				list={wholeList(answer, rows)}
				caption="Signed in now"
				noun="session"
				columns={email === undefined ? [user, ...columns] : columns}
				identify={(session) => `${session.email} ${session.began_at} ${session.source}`}
				empty={<Empty icon="users" title="Not signed in" />}
			/>
			{asking && email !== undefined && (
				<Confirm
					title={`Sign ${email} out?`}
					action="Sign out everywhere"
					onClose={() => setAsking(false)}
					onConfirm={async () => {
						await endSessions({ email });
						say(`${email} is signed out.`);
						setAsking(false);
						answer.reload();
					}}
				>
					<p>
						{currentUser()?.email === email ? 'This is your own account, so you will have to sign in again here, too. ' : ''}
						Every session of {email} ends with its next request. The password stays as it is, and whoever knows it can sign in again. If
						somebody else may know it, make a one-time password instead.
					</p>
				</Confirm>
			)}
		</Panel>
	);
}
