import { Prose } from './prose.tsx';

/** Says what to do about an alert, once it is opened. */
export function Runbook({ text }: { text: string }) {
	return (
		<details class="runbook">
			<summary>What to do</summary>
			<p>
				<Prose text={text} />
			</p>
		</details>
	);
}
