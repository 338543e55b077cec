import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Loading } from '../../components/empty.tsx';
import { Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { scoped } from '../../scope.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { Aside } from './aside.tsx';
import { showConflict, type WholeConflict } from './calls.ts';
import { ConflictState } from './conflicts.tsx';
import { ConflictImages } from './images.ts';
import { Settle } from './settle.tsx';
import { type Side, SidePanel } from './side-panel.tsx';

const decisions = {
	stored: {
		title: 'Keep the stored object?',
		action: 'Keep the stored object',
		text: 'Readers see no change. The received object stays in quarantine.',
	},
	received: {
		title: 'Use the received object?',
		action: 'Use the received object',
		text: 'Readers get the received object from now on. The stored object goes into quarantine. You can change this decision later.',
	},
} as const;

export function Conflict({ parameters: { id = '' } }: ScreenProps) {
	const up = { href: scoped('/conflicts'), title: 'Conflicts' };
	const answer = useAnswer((signal) => showConflict({ id }, signal), [id]);
	if (answer.data === undefined) {
		return (
			<Page title="Conflict" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	return <Shown conflict={answer.data} up={up} reload={answer.reload} />;
}

/** Lists the identifying elements that have a value, by name. Nested elements are named by their path. */
function elementsOf(side: Side): Map<string, string> {
	const elements = new Map<string, string>();
	const walk = (value: unknown, path: string) => {
		if (value === null || value === undefined || value === '') return;
		if (typeof value !== 'object') elements.set(path, String(value));
		else for (const [name, member] of Object.entries(value)) walk(member, path === '' ? name : `${path}.${name}`);
	};
	walk(side.attributes, '');
	return elements;
}

function Shown({ conflict, up, reload }: { conflict: WholeConflict; up: { href: string; title: string }; reload(): void }) {
	const [keep, setKeep] = useState<'stored' | 'received'>();
	if (conflict.stored === null) return <Aside conflict={conflict} up={up} reload={reload} />;
	const [stored, received] = [elementsOf(conflict.stored), elementsOf(conflict.received)];
	const names = [...new Set([...stored.keys(), ...received.keys()])];
	const differs = names.filter((name) => stored.get(name) !== received.get(name));
	const isOpen = conflict.settled_at === null;
	return (
		<Page
			title="Conflict"
			up={up}
			marks={<ConflictState conflict={conflict} />}
			lead={<code>{conflict.sop_instance_uid}</code>}
			actions={
				may('manager') && (
					<>
						{isOpen && <Button onClick={() => setKeep('stored')}>Keep the stored object…</Button>}
						<Button onClick={() => setKeep('received')}>Use the received object…</Button>
					</>
				)
			}
		>
			<div class="columns">
				<SidePanel title="Stored (the current instance)" side={conflict.stored} />
				<SidePanel title="Received (in quarantine)" side={conflict.received} />
			</div>
			<Panel title="Images">
				<ConflictImages id={conflict.id} hasStored />
			</Panel>
			<Panel title="Identifying elements">
				{(conflict.stored.attributes === null || conflict.received.attributes === null) && (
					<p class="note warning">One of the objects cannot be read. The elements of the other one are shown.</p>
				)}
				<p class="prose">
					{differs.length === 0
						? 'The identifying elements are the same. The objects differ elsewhere, such as in the pixels.'
						: `They differ in ${differs.join(', ')}.`}
				</p>
				<div class="table-frame">
					<table class="difference">
						<caption class="visually-hidden">Identifying elements side by side</caption>
						<thead>
							<tr>
								<th scope="col">Element</th>
								<th scope="col">Stored</th>
								<th scope="col">Received</th>
							</tr>
						</thead>
						<tbody>
							{names.map((name) => {
								const different = stored.get(name) !== received.get(name);
								return (
									<tr key={name}>
										<th scope="row">{name}</th>
										<td class={different ? 'before' : 'muted'}>{stored.get(name) ?? '–'}</td>
										<td class={different ? 'after' : 'muted'}>{received.get(name) ?? '–'}</td>
									</tr>
								);
							})}
						</tbody>
					</table>
				</div>
			</Panel>
			{keep && <Settle id={conflict.id} keep={keep} decision={decisions[keep]} onClose={() => setKeep(undefined)} reload={reload} />}
		</Page>
	);
}
