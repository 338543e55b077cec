import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { announce } from './toast.tsx';

/** Takes a text into the clipboard, and says so. Without a clipboard (no TLS) it selects the text, to be taken by hand. */
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
