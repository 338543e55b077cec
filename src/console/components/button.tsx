import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps {
	children: ComponentChildren;
	onClick?(): void;
	kind?: 'primary' | 'plain' | 'quiet' | 'danger';
	type?: 'button' | 'submit';
	icon?: IconName;
	disabled?: boolean;
	/** Work is in progress: the button cannot be pressed again, and shows this. */
	busy?: boolean;
	/** Shows only the icon. The words become its accessible name. */
	compact?: boolean;
	describedBy?: string | undefined;
}

export function Button({ children, onClick, kind = 'plain', type = 'button', icon, disabled, busy, compact, describedBy }: ButtonProps) {
	return (
		<button
			type={type}
			class={`button ${kind} ${compact ? 'compact' : ''}`}
			onClick={busy ? undefined : onClick}
			disabled={disabled === true}
			aria-busy={busy ? 'true' : undefined}
			aria-disabled={busy ? 'true' : undefined}
			aria-describedby={describedBy}
			title={compact && typeof children === 'string' ? children : undefined}
		>
			{busy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
			<span class={compact ? 'visually-hidden' : undefined}>{children}</span>
		</button>
	);
}

export interface LinkButtonProps extends Pick<ButtonProps, 'children' | 'kind' | 'icon'> {
	href: string;
	/** The link downloads a file. */
	download?: boolean;
}

export function LinkButton({ href, children, kind = 'plain', icon, download }: LinkButtonProps) {
	return (
		<a class={`button ${kind}`} href={href} download={download}>
			{icon && <Icon name={icon} />}
			<span>{children}</span>
		</a>
	);
}
