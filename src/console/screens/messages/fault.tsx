import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../components/button.tsx';
import { Time } from '../../components/time.tsx';
import { may } from '../../session.ts';
import type { Explanation, MessageReading, Remedy } from './calls.ts';
import { RemedyDialog } from './remedy.tsx';
import { SetAside, TakeUp } from './set-aside.tsx';

/** Says in plain words what is wrong with a refused message, what its standard asks for, and what can be done about it. */
export function Fault({ message, explanation, onChange }: { message: MessageReading; explanation: Explanation; onChange(): void }) {
	const { fault, remedies, set_aside: aside } = explanation;
	const [chosen, setChosen] = useState<Remedy>();
	if (fault === null && remedies.length === 0) return null;
	return (
		<section class={`fault ${fault ? 'is-refused' : ''}`} aria-label={fault ? 'What is wrong' : 'What can be done'}>
			{fault && (
				<>
					<p class="fault-lead">{fault.wrong}</p>
					<p>
						<code>{fault.code}</code> {message.failure}
					</p>
					<p>
						<strong>Asked for:</strong> {fault.asks} <span class="muted">{fault.section}</span>
					</p>
				</>
			)}
			{remedies.length > 0 && (
				<ul class="remedies">
					{remedies.map((remedy) => (
						<li key={remedy.remedy}>
							<RemedyButton remedy={remedy} onChoose={() => setChosen(remedy)} />
							<span class="muted">{remedy.effect}</span>
						</li>
					))}
				</ul>
			)}
			{aside ? (
				<p class="fault-foot">
					<span>
						Set aside by {aside.actor}, <Time at={aside.at} />: {aside.reason}
					</span>
					{may('manager') && <TakeUp id={message.id} onDone={onChange} />}
				</p>
			) : (
				explanation.cause?.open && <Aside message={message} onChange={onChange} />
			)}
			{chosen && <RemedyDialog id={message.id} remedy={chosen} onClose={() => setChosen(undefined)} onApplied={onChange} />}
		</section>
	);
}

function RemedyButton({ remedy, onChoose }: { remedy: Remedy; onChoose(): void }) {
	if (remedy.href !== null) return <LinkButton href={remedy.href}>{remedy.title}</LinkButton>;
	if (!may('manager')) return <strong>{remedy.title}</strong>;
	return <Button onClick={onChoose}>{remedy.title}…</Button>;
}

function Aside({ message, onChange }: { message: MessageReading; onChange(): void }) {
	const [asking, setAsking] = useState(false);
	if (!may('manager')) return null;
	return (
		<p class="fault-foot">
			<Button kind="quiet" onClick={() => setAsking(true)}>
				Set aside…
			</Button>
			<span class="muted">Do this if nobody will mend it.</span>
			{asking && <SetAside what={{ id: message.id }} title="Set this message aside?" onClose={() => setAsking(false)} onDone={onChange} />}
		</p>
	);
}
