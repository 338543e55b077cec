import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { HeadingLevel } from './heading.ts';

export interface DialogProps {
	title: string;
	children: ComponentChildren;
	/** Called on Escape, on the close button and on a press outside. If undefined, the dialog cannot be closed. */
	onClose: (() => void) | undefined;
	size?: 'small' | 'medium' | 'large';
	/** Hides the page behind the dialog. */
	opaque?: boolean;
}

/** The browser's modal dialog, which keeps the focus and returns it. */
export function Dialog({ title, children, onClose, size = 'medium', opaque = false }: DialogProps) {
	const element = useRef<HTMLDialogElement>(null);
	const heading = useId();
	useEffect(() => {
		const dialog = element.current;
		const before = document.activeElement;
		dialog?.showModal();
		const first = dialog?.querySelector<HTMLElement>('[data-autofocus], .dialog-body :is(input, select, textarea):not([disabled])');
		first?.focus();
		return () => {
			dialog?.close();
			if (before instanceof HTMLElement && before.isConnected) before.focus();
		};
	}, []);
	return (
		<dialog
			ref={element}
			class={`dialog ${size} ${opaque ? 'opaque' : ''}`}
			aria-labelledby={heading}
			onCancel={(event) => {
				event.preventDefault();
				onClose?.();
			}}
			onKeyDown={(event) => {
				// Chromium lets a second Escape through that `cancel` cannot prevent.
				if (event.key !== 'Escape') return;
				event.preventDefault();
				event.stopPropagation();
				onClose?.();
			}}
			onMouseDown={(event) => event.target === element.current && onClose?.()}
		>
			<div class="dialog-frame">
				<header class="dialog-head">
					<h2 id={heading}>{title}</h2>
					{onClose && (
						<Button kind="quiet" icon="close" compact onClick={onClose}>
							Close
						</Button>
					)}
				</header>
				<div class="dialog-body">
					<HeadingLevel.Provider value={3}>{children}</HeadingLevel.Provider>
				</div>
			</div>
		</dialog>
	);
}
