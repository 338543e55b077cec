import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Copy } from './copy.tsx';

interface ToCopyProps {
	title: string;
	text: string;
	/** The label of the button that copies the text. */
	copy?: string;
	children?: ComponentChildren;
}

/** Shows a line to paste, such as a command, with a button to copy it. */
export function ToCopy(props: ToCopyProps) {
	return <Shown {...props} mark={{ 'data-line': true }} />;
}

/** Shows a secret that nobody can look up later, with a button to copy it. */
export function ShownOnce(props: ToCopyProps) {
	return <Shown {...props} mark={{ 'data-secret': true }} />;
}

function Shown({ title, text, copy = 'Copy', children, mark }: ToCopyProps & { mark: Record<string, true> }) {
	const shown = useRef<HTMLPreElement>(null);
	return (
		<div class="secret">
			<div class="secret-head">
				<h3>{title}</h3>
				<Copy text={text} label={copy} from={shown} />
			</div>
			<pre ref={shown} {...mark}>
				{text}
			</pre>
			{children}
		</div>
	);
}
