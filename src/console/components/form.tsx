import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { asFailure } from '../answers.ts';
import type { ApiFailure } from '../api.ts';
import { useUnsaved } from '../unsaved.ts';
import { Button } from './button.tsx';
import { Field, type FieldDescription, type Value } from './field.tsx';
import { Problem } from './problem.tsx';

export type Values = Record<string, Value>;

/** Fields that belong together, under a heading. */
export interface FieldGroup {
	title?: string;
	hint?: string;
	fields: readonly FieldDescription[];
	/** Decides from the current values if the group is shown. */
	when?(values: Values): boolean;
}

export interface FormProps {
	groups: readonly FieldGroup[];
	initial: Values;
	/** The text of the submit button. */
	action: string;
	/** Sends the values. If the service refuses one, the error appears at its field. */
	onSubmit(values: Values): Promise<void>;
	onCancel?: () => void;
	/** Content between the fields and the buttons; it follows the current values. */
	children?: (values: Values) => ComponentChildren;
	/** The signed-in user may not change anything. */
	fixed?: boolean;
	/** It stores nothing, so nothing is lost when it is left. */
	asksOnly?: boolean;
	/** The form can be sent only after a change. */
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

/** Returns the members that changed, for requests that send only those. */
export function changed(before: Values, after: Values): Values {
	return Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value)));
}

function missing(groups: readonly FieldGroup[], values: Values): FieldDescription | undefined {
	return groups
		.flatMap(({ fields }) => fields)
		.find((field) => {
			const value = values[field.name];
			if (field.required !== true) return false;
			// One of the options may stand for the default, and then its value is empty.
			if (field.kind === 'radio') return !field.options.some((option) => option.value === value);
			return value === undefined || value === '' || (typeof value === 'object' && value.length === 0);
		});
}

export function Form({
	groups,
	initial,
	action,
	onSubmit,
	onCancel,
	children,
	fixed = false,
	asksOnly = false,
	onlyChanged = false,
}: FormProps) {
	const [values, setValues] = useState(initial);
	const [saved, setSaved] = useState(initial);
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<Pick<ApiFailure, 'message' | 'field'>>();
	useUnsaved(!busy && !fixed && !asksOnly && Object.keys(changed(saved, values)).length > 0);
	const form = useRef<HTMLFormElement>(null);
	const shown = groups.filter(({ when }) => when?.(values) ?? true);
	const known = shown.some(({ fields }) => fields.some(({ name }) => name === failure?.field));
	const fail = (next: Pick<ApiFailure, 'message' | 'field'>) => {
		setFailure(next);
		requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('.invalid :is(input, select, textarea)')?.focus());
	};
	const submit = async () => {
		const empty = missing(shown, values);
		if (empty !== undefined) return fail({ message: `${empty.label} is required.`, field: empty.name });
		setFailure(undefined);
		setBusy(true);
		try {
			await onSubmit(values);
			setSaved(values);
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
