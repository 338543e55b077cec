import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { ApiFailure } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { createdColumn } from '../../components/columns.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Form, text, type Values } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { siteField } from '../../components/site-field.ts';
import { type Column, ListTable } from '../../components/table.tsx';
import { say } from '../../components/toast.tsx';
import { useSiteScope, useSites } from '../../scope.ts';
import { may } from '../../session.ts';
import { addRemoteAe, listRemoteAes, type RemoteAeRecord, removeRemoteAe } from './calls.ts';
import { Echo } from './echo.tsx';

const columns = (remove: (remote: RemoteAeRecord) => void, ask: (remote: RemoteAeRecord) => void): readonly Column<RemoteAeRecord>[] => [
	{ name: 'title', title: 'AE title', by: ({ title }) => title, cell: ({ title }) => <code>{title}</code> },
	{ name: 'site', title: 'Site', by: ({ site }) => site, cell: ({ site }) => <code>{site}</code> },
	{
		name: 'address',
		title: 'Address',
		by: ({ host }) => host,
		cell: ({ host, port }) => <code>{`${host.includes(':') ? `[${host}]` : host}:${port}`}</code>,
	},
	{ name: 'tls', title: 'Transport', tight: true, cell: ({ tls }) => (tls ? <Badge tone="good">TLS</Badge> : <Badge>Plain</Badge>) },
	createdColumn('Added'),
	...(may('manager')
		? [
				{
					name: 'actions',
					title: '',
					tight: true,
					cell: (remote: RemoteAeRecord) => (
						<div class="row-actions">
							<Button onClick={() => ask(remote)}>Echo</Button>
							<Button onClick={() => remove(remote)}>Remove…</Button>
						</div>
					),
				},
			]
		: []),
];

export function RemoteAes() {
	const site = useSiteScope();
	const answer = useAnswer((signal) => listRemoteAes({ site }, signal), [site]);
	const [adding, setAdding] = useState(false);
	const [asked, setAsked] = useState<RemoteAeRecord>();
	const [removing, setRemoving] = useState<RemoteAeRecord>();
	const add = may('manager') && (
		<Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
			New remote AE
		</Button>
	);
	return (
		<Page
			title="Remote AEs"
			lead="This service may call these DICOM application entities: destinations of C-MOVE and receivers of commitment reports."
			actions={add}
		>
			<ListTable
				list={wholeList(answer)}
				caption="Remote AEs"
				noun="remote AE"
				columns={columns(setRemoving, setAsked)}
				identify={({ id }) => id}
				empty={
					<Empty icon="remotes" title="No remote AEs yet">
						<p>Add each PACS or workstation that receives images by C-MOVE or requests storage commitment.</p>
						{add}
					</Empty>
				}
			/>
			{adding && (
				<NewRemoteAe
					site={site}
					onClose={() => setAdding(false)}
					onAdded={() => {
						setAdding(false);
						answer.reload();
					}}
				/>
			)}
			{asked && <Echo remote={asked} onClose={() => setAsked(undefined)} />}
			{removing && (
				<Confirm
					title={`Remove ${removing.title}?`}
					action="Remove"
					danger
					onClose={() => setRemoving(undefined)}
					onConfirm={async () => {
						await removeRemoteAe({ ae: removing.id });
						say(`${removing.title} is removed.`);
						setRemoving(undefined);
						answer.reload();
					}}
				>
					<p>
						C-MOVE of {removing.site} to <code>{removing.title}</code> is refused from now on, and commitment reports no longer reach it.
					</p>
				</Confirm>
			)}
		</Page>
	);
}

function NewRemoteAe({ site, onClose, onAdded }: { site: string | undefined; onClose(): void; onAdded(): void }) {
	const sites = useSites();
	const create = async (values: Values) => {
		const port = Number(text(values, 'port'));
		if (!Number.isInteger(port)) throw new ApiFailure(400, 'The port must be a whole number.', 'port');
		const added = await addRemoteAe({
			site: text(values, 'site'),
			title: text(values, 'title'),
			host: text(values, 'host'),
			port,
			tls: values['tls'] === true,
		});
		say(`${added.title} is added.`);
		onAdded();
	};
	return (
		<Dialog title="New remote AE" onClose={onClose}>
			<Form
				groups={[
					{
						fields: [
							{ ...siteField(sites), half: true },
							{
								kind: 'text',
								name: 'title',
								label: 'AE title',
								required: true,
								half: true,
								code: true,
								maxLength: 16,
								placeholder: 'PACS1',
							},
							{ kind: 'text', name: 'host', label: 'Host', required: true, half: true, code: true, placeholder: 'pacs.example.org' },
							{ kind: 'number', name: 'port', label: 'Port', required: true, half: true, code: true, placeholder: '104' },
							{ kind: 'switch', name: 'tls', label: 'Use TLS', hint: 'The service presents its own certificate if it has one.' },
						],
					},
				]}
				initial={{ site: site ?? (sites.length === 1 ? (sites[0]?.slug ?? '') : ''), title: '', host: '', port: '', tls: false }}
				action="Register"
				onSubmit={create}
				onCancel={onClose}
			/>
		</Dialog>
	);
}
