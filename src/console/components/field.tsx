import { useId, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { announce } from './toast.tsx';

export type Value = string | boolean | readonly string[];

export interface Option {
	value: string;
	label: string;
	hint?: string;
	disabled?: boolean;
}

interface Common {
	name: string;
	label: string;
	hint?: string;
	required?: boolean;
	/** Read-only. */
	fixed?: boolean;
	/** Half the width, if there is room. */
	half?: boolean;
	/** A monospaced font, for addresses, codes and titles. */
	code?: boolean;
}

/** One input of a form. */
export type FieldDescription = Common &
	(
		| {
				kind: 'text' | 'email' | 'password' | 'number' | 'date' | 'datetime-local';
				placeholder?: string;
				autocomplete?: string;
				maxLength?: number;
		  }
		| { kind: 'area'; rows?: number; placeholder?: string }
		| { kind: 'select'; options: readonly Option[] }
		/** One of a few options, all of them visible. */
		| { kind: 'radio'; options: readonly Option[] }
		/** Several of a few options. */
		| { kind: 'choices'; options: readonly Option[] }
		| { kind: 'switch' }
		/** A file; the value is its content in base64. */
		| { kind: 'file'; accept: string }
		/** A list of short texts. */
		| { kind: 'list'; placeholder?: string; check?: (text: string) => string | undefined }
	);

export interface FieldProps {
	field: FieldDescription;
	value: Value | undefined;
	error: string | undefined;
	onValue(value: Value): void;
}

/** A label, an input, a hint and an error, connected for screen readers. */
export function Field({ field, value, error, onValue }: FieldProps) {
	const id = useId();
	const described = [field.hint ? `${id}-hint` : '', error ? `${id}-error` : ''].join(' ').trim() || undefined;
	const notes = (
		<>
			{field.hint && (
				<p class="hint" id={`${id}-hint`}>
					{field.hint}
				</p>
			)}
			{error && (
				<p class="error" id={`${id}-error`}>
					{error}
				</p>
			)}
		</>
	);
	const classes = `field ${field.half ? 'half' : ''} ${error ? 'invalid' : ''}`;
	const mark = field.required ? null : field.kind === 'switch' || field.fixed ? null : <span class="optional">optional</span>;
	if (field.kind === 'choices' || field.kind === 'radio') {
		return (
			<fieldset class={classes} data-field={field.name} aria-describedby={described}>
				<legend>
					{field.label} {mark}
				</legend>
				<Options field={field} value={value} onValue={onValue} />
				{notes}
			</fieldset>
		);
	}
	if (field.kind === 'switch') {
		return (
			<div class={`${classes} switch-field`} data-field={field.name}>
				<label class="check">
					<input
						type="checkbox"
						checked={value === true}
						disabled={field.fixed === true}
						aria-describedby={described}
						onChange={(event) => onValue(event.currentTarget.checked)}
					/>
					<span>{field.label}</span>
				</label>
				{notes}
			</div>
		);
	}
	return (
		<div class={classes} data-field={field.name}>
			<label for={id}>
				{field.label} {mark}
			</label>
			<Control field={field} value={value} onValue={onValue} id={id} described={described} invalid={error !== undefined} />
			{notes}
		</div>
	);
}

function Options({ field, value, onValue }: Pick<FieldProps, 'field' | 'value' | 'onValue'>) {
	const group = useId();
	if (field.kind !== 'choices' && field.kind !== 'radio') return null;
	const chosen = Array.isArray(value) ? (value as readonly string[]) : [];
	const change = (option: string, checked: boolean) =>
		onValue(field.kind === 'radio' ? option : checked ? [...chosen, option] : chosen.filter((other) => other !== option));
	return (
		<div class="options">
			{field.options.map((option) => (
				<label key={option.value} class="check">
					<input
						type={field.kind === 'radio' ? 'radio' : 'checkbox'}
						name={group}
						checked={field.kind === 'radio' ? value === option.value : chosen.includes(option.value)}
						disabled={field.fixed === true || option.disabled === true}
						onChange={(event) => change(option.value, event.currentTarget.checked)}
					/>
					<span>
						{option.label}
						{option.hint && <small>{option.hint}</small>}
					</span>
				</label>
			))}
		</div>
	);
}

interface ControlProps {
	field: FieldDescription;
	value: Value | undefined;
	onValue(value: Value): void;
	id: string;
	described: string | undefined;
	invalid: boolean;
}

function Control({ field, value, onValue, id, described, invalid }: ControlProps) {
	const shared = {
		id,
		class: field.code ? 'code' : undefined,
		'aria-describedby': described,
		'aria-invalid': invalid ? ('true' as const) : undefined,
		'aria-required': field.required ? ('true' as const) : undefined,
		disabled: field.fixed === true,
	};
	const text = typeof value === 'string' ? value : '';
	if (field.kind === 'area') {
		return (
			<textarea
				{...shared}
				rows={field.rows ?? 5}
				placeholder={field.placeholder}
				value={text}
				onInput={(event) => onValue(event.currentTarget.value)}
			/>
		);
	}
	if (field.kind === 'select') {
		return (
			<select {...shared} value={text} onChange={(event) => onValue(event.currentTarget.value)}>
				{field.options.map((option) => (
					<option key={option.value} value={option.value} disabled={option.disabled}>
						{option.label}
					</option>
				))}
			</select>
		);
	}
	if (field.kind === 'file') {
		return <input {...shared} type="file" accept={field.accept} onChange={(event) => void read(event.currentTarget.files?.[0], onValue)} />;
	}
	if (field.kind === 'list') {
		return <ListControl field={field} value={Array.isArray(value) ? (value as readonly string[]) : []} onValue={onValue} shared={shared} />;
	}
	if (field.kind === 'switch' || field.kind === 'choices' || field.kind === 'radio') return null;
	const { kind, placeholder, autocomplete = 'off', maxLength } = field;
	return (
		<input
			{...shared}
			// Preact's types allow each kind of input only certain roles, which do not matter here.
			type={(kind === 'number' ? 'text' : kind) as 'text'}
			inputMode={kind === 'number' ? 'numeric' : undefined}
			spellcheck={kind === 'text' && !field.code}
			placeholder={placeholder}
			autocomplete={autocomplete}
			maxLength={maxLength}
			value={text}
			onInput={(event) => onValue(event.currentTarget.value)}
		/>
	);
}

/** Reads a chosen file. A data URL has its content in base64 behind the first comma; that of an empty file has none. */
async function read(file: File | undefined, onValue: (value: Value) => void): Promise<void> {
	if (file === undefined) return onValue('');
	const reader = new FileReader();
	const done = new Promise<void>((resolve) => {
		reader.onloadend = () => resolve();
	});
	reader.readAsDataURL(file);
	await done;
	const [, content = ''] = typeof reader.result === 'string' ? reader.result.split(',') : [];
	onValue(content);
}

interface ListControlProps {
	field: FieldDescription & { kind: 'list' };
	value: readonly string[];
	onValue(value: Value): void;
	shared: { id: string; disabled: boolean };
}

/** Enter, a comma or leaving the field adds the typed text. Backspace in the empty field removes the last item for editing. */
function ListControl({ field, value, onValue, shared }: ListControlProps) {
	const [typed, setTyped] = useState('');
	const [fault, setFault] = useState<string>();
	const input = useRef<HTMLInputElement>(null);
	const take = (text: string) => {
		const parts = text.split(/[\s,;]+/).filter((part) => part !== '' && !value.includes(part));
		const wrong = parts.map((part) => field.check?.(part)).find((problem) => problem !== undefined);
		setFault(wrong);
		if (wrong !== undefined) return;
		setTyped('');
		if (parts.length === 0) return;
		onValue([...value, ...parts]);
		announce(`${parts.join(', ')} added`);
	};
	const remove = (part: string) => {
		onValue(value.filter((other) => other !== part));
		announce(`${part} removed`);
		input.current?.focus();
	};
	const onKeyDown = (event: KeyboardEvent) => {
		if ((event.key === 'Enter' && typed.trim() !== '') || event.key === ',') {
			event.preventDefault();
			take(typed);
		} else if (event.key === 'Backspace' && typed === '' && value.length > 0) {
			event.preventDefault();
			setTyped(value.at(-1) ?? '');
			onValue(value.slice(0, -1));
		}
	};
	return (
		<>
			<div class={`list-control ${shared.disabled ? 'fixed' : ''}`}>
				{value.length > 0 && (
					<ul aria-label={field.label}>
						{value.map((part) => (
							<li key={part} class="chip">
								<span class={field.code ? 'code' : undefined}>{part}</span>
								{!shared.disabled && (
									<button type="button" aria-label={`Remove ${part}`} onClick={() => remove(part)}>
										<Icon name="close" />
									</button>
								)}
							</li>
						))}
					</ul>
				)}
				{!shared.disabled && (
					<input
						{...shared}
						ref={input}
						autocomplete="off"
						spellcheck={false}
						placeholder={value.length === 0 ? field.placeholder : ''}
						value={typed}
						onInput={(event) => setTyped(event.currentTarget.value)}
						onKeyDown={onKeyDown}
						onBlur={() => take(typed)}
					/>
				)}
			</div>
			{fault && (
				<p class="error" role="alert">
					{fault}
				</p>
			)}
		</>
	);
}
