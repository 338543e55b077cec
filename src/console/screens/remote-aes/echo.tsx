import { useAnswer } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loading } from '../../components/empty.tsx';
import { Facts } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { echoRemoteAe, type RemoteAeEcho, type RemoteAeRecord } from './calls.ts';

/** Says for each outcome of a call what to look at next. */
const advice: Readonly<Record<RemoteAeEcho['outcome'], string>> = {
	answered: 'It is there, knows this service, and answers.',
	refused: 'It is there and knows this service, but did not answer with success. Its log says why.',
	rejected: 'It is there, but does not let this service in. Check both AE titles in its configuration.',
	'no-context': 'It is there, but does not offer verification (C-ECHO). It may store images all the same.',
	aborted: 'It broke off the call. It may expect TLS or no TLS, or it may not accept the address of this service.',
	unreachable: 'Nothing answers at this address. Check host and port, firewalls, and whether it is running.',
	timeout: 'It did not answer in time. Check the port, TLS, and firewalls.',
	protocol: 'Something answers there that does not speak DICOM. Check the port, and whether it expects TLS.',
};

/** Calls a remote AE and says in words what came of it. */
export function Echo({ remote, onClose }: { remote: RemoteAeRecord; onClose(): void }) {
	const answer = useAnswer(() => echoRemoteAe({ ae: remote.id }), [remote.id]);
	const { data } = answer;
	return (
		<Dialog title={`C-ECHO to ${remote.title}`} onClose={onClose} size="small">
			{answer.loading && <Loading lines={3} label="Calling" />}
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			{data && !answer.loading && (
				<div role="status">
					<p>
						<Badge tone={data.outcome === 'answered' ? 'good' : 'danger'}>{data.outcome === 'answered' ? 'Answered' : 'No success'}</Badge>
					</p>
					<p class="prose">{data.reason}.</p>
					<p class="prose">{advice[data.outcome]}</p>
					<Facts
						facts={[
							['Called', <code key="called">{`${data.title} at ${data.host}:${data.port}`}</code>],
							['Calling AE title', <code key="calling">{data.calling_ae}</code>],
							['Transport', data.tls ? 'TLS' : 'plain'],
							['Took', `${data.duration_ms} ms`],
						]}
					/>
				</div>
			)}
			<div class="actions">
				<Button onClick={onClose}>Close</Button>
				<Button kind="primary" onClick={answer.reload} busy={answer.loading}>
					Call again
				</Button>
			</div>
		</Dialog>
	);
}
