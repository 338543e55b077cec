import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { announce } from './toast.tsx';

/** Copies by the command of the browser, which pages without TLS may use as well. Returns false where it is not permitted. */
function copyByCommand(text: string): boolean {
	const held = document.activeElement;
	const area = document.createElement('textarea');
	area.value = text;
	area.className = 'visually-hidden';
	document.body.append(area);
	area.select();
	const isCopied = document.execCommand('copy');
	area.remove();
	if (held instanceof HTMLElement) held.focus();
	return isCopied;
}

/**
 * Copies a text to the clipboard and announces it. Without a clipboard (no TLS) it selects the text for copying by hand, where `from` shows it
 * as it is.
 */
export function Copy({ text, label = 'Copy', from }: { text: string; label?: string; from?: { current: HTMLElement | null } }) {
	const [copied, setCopied] = useState(false);
	const copy = async () => {
		if (navigator.clipboard === undefined) {
			if (from?.current) {
				getSelection()?.selectAllChildren(from.current);
				announce('Selected. Press Control C to copy.');
				return;
			}
			if (!copyByCommand(text)) {
				announce('The browser did not copy it.');
				return;
			}
		} else await navigator.clipboard.writeText(text);
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
