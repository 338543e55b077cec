import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { announce } from './toast.tsx';

/** Copies a text to the clipboard and announces it. Without a clipboard (no TLS) it selects the text for copying by hand. */
export function Copy({ text, label = 'Copy', from }: { text: string; label?: string; from?: { current: HTMLElement | null } }) {
	const [copied, setCopied] = useState(false);
	const copy = async () => {
		if (navigator.clipboard === undefined) {
			if (from?.current) getSelection()?.selectAllChildren(from.current);
			announce('Selected. Press Control C to copy.');
			return;
		}
		await navigator.clipboard.writeText(text);
		setCopied(true);
		announce('Copied');
		setTimeout(() => setCopied(false), 2000);
	};
	return (
		<Button icon={copied ? 'check' : 'copy'} onClick={() => void copy()}>
			{copied ? 'Copied' : label}
		</Button>
	);
}
