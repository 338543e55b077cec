import { useState } from 'preact/hooks';
import { asFailure, useAnswer } from '../../answers.ts';
import type { ApiFailure } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { pageOf } from '../../pages.ts';
import { navigate } from '../../router.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { NewClient } from '../clients/clients.tsx';
import { ReadingView } from '../messages/reading.tsx';
import { replayUnmatched, type ShownUnmatched, showUnmatched } from './calls.ts';
import { reasons } from './unmatched-list.tsx';

const up = { href: '/unmatched', title: 'Unmatched traffic' };

export function Unmatched({ parameters: { id = '' } }: ScreenProps) {
	const answer = useAnswer((signal) => showUnmatched({ id }, signal), [id]);
	if (answer.data === undefined) {
		return (
			<Page title="Unmatched message" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	return <Shown unmatched={answer.data} reload={answer.reload} />;
}

function Shown({ unmatched, reload }: { unmatched: ShownUnmatched; reload(): void }) {
	const { id, reading, suggested, replayed_as } = unmatched;
	const [making, setMaking] = useState(false);
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<ApiFailure>();
	const replay = async () => {
		setBusy(true);
		setFailure(undefined);
		try {
			const { id: message, outcome } = await replayUnmatched({ id });
			say(outcome === 'refused' ? 'The message was taken, and refused. Its page says why.' : 'The message was taken.');
			navigate(pageOf('message', { id: message }));
		} catch (error) {
			setFailure(asFailure(error));
			setBusy(false);
		}
	};
	const actions = may('manager') && (
		<>
			<Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
				Make a client of it…
			</Button>
			{reading !== null && replayed_as === null && (
				<Button onClick={() => void replay()} busy={busy}>
					Replay
				</Button>
			)}
		</>
	);
	const title = reading === null ? 'Rejected association' : `Unmatched ${unmatched.message_type || 'message'}`;
	return (
		<Page title={title} up={up} marks={<Badge tone="danger">Refused</Badge>} actions={actions}>
			{failure && <Problem failure={failure} />}
			<Panel title="What came">
				<Facts facts={factsOf(unmatched)} />
			</Panel>
			{reading !== null && (
				<Panel title="The message">
					<ReadingView reading={reading} label="Message" />
				</Panel>
			)}
			{making && (
				<NewClient
					site={suggested.site ?? undefined}
					prefilled={{
						name: suggested.sending_application ?? suggested.calling_ae ?? suggested.allowed_ips[0] ?? '',
						protocols: suggested.protocols,
						allowed_ips: suggested.allowed_ips,
						sending_application: suggested.sending_application ?? '',
						sending_facility: suggested.sending_facility ?? '',
						calling_ae: suggested.calling_ae ?? '',
					}}
					onClose={() => setMaking(false)}
					onMade={() => {
						setMaking(false);
						reload();
					}}
				/>
			)}
		</Page>
	);
}

function factsOf(unmatched: ShownUnmatched) {
	const { received_at, source, reason, site, control_id, sending_application, sending_facility, calling_ae, called_ae, replayed_as } =
		unmatched;
	const named = [
		['MSH-3, sending application', sending_application],
		['MSH-4, sending facility', sending_facility],
		['Calling AE title', calling_ae],
		['Called AE title', called_ae],
	] as const;
	return [
		['Why', reasons[reason]],
		['Received', <Time key="at" at={received_at} />],
		['From', <code key="source">{source}</code>],
		...named.flatMap(([name, value]) => (value === null ? [] : [[name, value === '' ? 'empty' : value] as const])),
		['Site', site ?? 'none alone'],
		['Control id', control_id],
		...(replayed_as === null
			? []
			: [
					[
						'Replayed',
						<a key="replay" href={pageOf('message', { id: replayed_as })}>
							as a message of its client
						</a>,
					] as const,
				]),
	] as const;
}
