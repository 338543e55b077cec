import type { z } from 'zod';
import type { shownLine } from '#administration/line-difference.ts';

const marks = { same: ' ', removed: '−', added: '+', 'left-out': '…' } as const;
const spoken = { same: '', removed: 'Removed: ', added: 'Added: ', 'left-out': 'Lines that do not differ' } as const;

/** The lines by which a text differs from another one. */
export function Difference({ lines }: { lines: readonly z.output<typeof shownLine>[] }) {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
		<div class="raw difference" tabIndex={0}>
			{lines.map(({ mark, text }, index) => (
				<div key={index} class={mark}>
					<span aria-hidden="true">{marks[mark]} </span>
					<span class="visually-hidden">{spoken[mark]}</span>
					{text}
				</div>
			))}
		</div>
	);
}
