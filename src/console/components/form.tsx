import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { asFailure } from '../answers.ts';
import type { ApiFailure } from '../api.ts';
import { Button } from './button.tsx';
import { Field, type FieldDescription, type Value } from './field.tsx';
import { Problem } from './problem.tsx';

export type Values = Record<string, Value>;

/** Fields that belong together, under a heading. */
export interface FieldGroup {
	title?: string;
	hint?: string;
	fields: readonly FieldDescription[];
	/** Whether it is shown, by what is typed so far. */
	when?(values: Values): boolean;
}

export interface FormProps {
	groups: readonly FieldGroup[];
	initial: Values;
	/** The words of the button that sends it. */
	action: string;
	/** What the service refuses appears at the field that it names. */
	onSubmit(values: Values): Promise<void>;
	onCancel?: () => void;
	/** Between the fields and the buttons; follows what is typed. */
	children?: (values: Values) => ComponentChildren;
	/** Nothing to be changed by who is signed in. */
	fixed?: boolean;
	/** Sent only when something was changed. */
	onlyChanged?: boolean;
}

export function text(values: Values, name: string): string {
	const value = values[name];
	return typeof value === 'string' ? value.trim() : '';
}

export function list(values: Values, name: string): string[] {
	const value = values[name];
	return Array.isArray(value) ? [...(value as readonly string[])] : [];
}

/** The members that differ from what they were, for a change that sends those alone. */
export function changed(before: Values, after: Values): Values {
	return Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value)));
}

function missing(groups: readonly FieldGroup[], values: Values): FieldDescription | undefined {
	return groups
		.flatMap(({ fields }) => fields)
		.find(({ name, required }) => {
			const value = values[name];
			return required === true && (value === undefined || value === '' || (typeof value === 'object' && value.length === 0));
		});
}

export function Form({ groups, initial, action, onSubmit, onCancel, children, fixed = false, onlyChanged = false }: FormProps) {
	const [values, setValues] = useState(initial);
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<Pick<ApiFailure, 'message' | 'field'>>();
	const form = useRef<HTMLFormElement>(null);
	const shown = groups.filter(({ when }) => when?.(values) ?? true);
	const known = shown.some(({ fields }) => fields.some(({ name }) => name === failure?.field));
	const fail = (next: Pick<ApiFailure, 'message' | 'field'>) => {
		setFailure(next);
		requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('.invalid :is(input, select, textarea)')?.focus());
	};
	const submit = async () => {
		const empty = missing(shown, values);
		if (empty !== undefined) return fail({ message: `${empty.label} is needed.`, field: empty.name });
		setFailure(undefined);
		setBusy(true);
		try {
			await onSubmit(values);
		} catch (error) {
			fail(asFailure(error));
		}
		setBusy(false);
	};
	const unchanged = onlyChanged && Object.keys(changed(initial, values)).length === 0;
	return (
		<form
			ref={form}
			class="form"
			noValidate
			onSubmit={(event) => {
				event.preventDefault();
				if (!busy && !fixed) void submit();
			}}
		>
			{shown.map(({ title, hint, fields }) => (
				<Group key={title ?? fields[0]?.name} title={title} hint={hint}>
					{fields.map((field) => (
						<Field
							key={field.name}
							field={fixed ? { ...field, fixed } : field}
							value={values[field.name]}
							error={failure?.field === field.name ? failure.message : undefined}
							onValue={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
						/>
					))}
				</Group>
			))}
			{children?.(values)}
			{failure && !known && <Problem failure={failure} />}
			{!fixed && (
				<div class="actions">
					{onCancel && <Button onClick={onCancel}>Cancel</Button>}
					<Button type="submit" kind="primary" busy={busy} disabled={unchanged}>
						{action}
					</Button>
				</div>
			)}
		</form>
	);
}

function Group({ title, hint, children }: { title: string | undefined; hint: string | undefined; children: ComponentChildren }) {
	if (title === undefined) return <div class="fields">{children}</div>;
	return (
		<section class="group">
			<h3>{title}</h3>
			{hint && <p class="hint">{hint}</p>}
			<div class="fields">{children}</div>
		</section>
	);
}
