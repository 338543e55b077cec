import type { FieldReading, Reading, SegmentReading } from '#administration/reading/reading.ts';
import { Badge } from '../../components/badge.tsx';
import type { Explanation } from './calls.ts';

/** Shows a message by segments and fields, or as indented text. */
export function ReadingView({ reading, label, fault }: { reading: Reading; label: string; fault?: Location | undefined }) {
	return (
		<div class="reading">
			{reading.format === 'hl7v2' ? (
				reading.segments.map((segment) => (
					<SegmentView key={`${segment.id}-${segment.sequence}`} segment={segment} fault={faultIn(segment, fault)} />
				))
			) : (
				<>
					{reading.format === 'json' && reading.head.length > 0 && <RawText label="Head of the request" text={reading.head.join('\n')} />}
					<RawText label={label} text={reading.text === '' ? 'No content.' : reading.text} marked={elementOf(fault)} />
				</>
			)}
			{reading.is_cut && <p class="note warning">Only the beginning of the message is shown.</p>}
		</div>
	);
}

export type Location = NonNullable<NonNullable<Explanation['fault']>['location']>;

/** The fault of a message, if it lies in this segment. */
function faultIn({ id, sequence }: SegmentReading, fault: Location | undefined): Location | undefined {
	return fault?.segment === id && (fault.sequence ?? 1) === sequence ? fault : undefined;
}

/** `Observation.component[2].code` is written as `"code":`, indented by the elements and lists around it. */
function elementOf(fault: Location | undefined): string | undefined {
	const [, ...path] = fault?.expression?.split('.') ?? [];
	const name = path.pop()?.replace(/\[\d+\]$/, '');
	if (name === undefined) return undefined;
	const depth = 1 + path.length + path.filter((part) => part.endsWith(']')).length;
	return `\n${'  '.repeat(depth)}"${name}":`;
}

/** The text as received. A scrolling region must be reachable by keyboard (WCAG 2.1.1). */
export function RawText({ label, text, marked }: { label: string; text: string; marked?: string | undefined }) {
	const at = marked === undefined ? -1 : text.indexOf(marked);
	return (
		<section aria-label={label}>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
			<pre class="raw" tabIndex={0}>
				{marked === undefined || at === -1 ? (
					text
				) : (
					<>
						{text.slice(0, at)}
						<mark class="at-fault">{marked}</mark>
						{text.slice(at + marked.length)}
					</>
				)}
			</pre>
		</section>
	);
}

function SegmentView({ segment, fault }: { segment: SegmentReading; fault: Location | undefined }) {
	const isAbsent = fault?.field !== undefined && !segment.fields.some(({ number }) => number === fault.field);
	return (
		<details class={`segment ${fault ? 'at-fault' : ''}`} open={segment.fields.length > 0 || fault !== undefined}>
			<summary>
				<code>{segment.id}</code>
				<span>{segment.name ?? 'not a segment of the standard'}</span>
				{segment.sequence > 1 && <span class="muted">no. {segment.sequence}</span>}
				{fault && <Badge tone="danger">at fault</Badge>}
			</summary>
			<table class="fields-table">
				<caption class="visually-hidden">
					{segment.id} {segment.name}
				</caption>
				<tbody>
					{segment.fields.map((field) => (
						<FieldView key={field.number} id={segment.id} field={field} fault={fault?.field === field.number ? fault : undefined} />
					))}
					{isAbsent && (
						<tr class="at-fault">
							<th scope="row">
								<code>
									{segment.id}-{fault.field}
								</code>
							</th>
							<td class="field-name">is at fault</td>
							<td>
								<em>The field is not there.</em>
							</td>
						</tr>
					)}
				</tbody>
			</table>
		</details>
	);
}

function FieldView({ id, field, fault }: { id: string; field: FieldReading; fault: Location | undefined }) {
	return (
		<tr class={fault ? 'at-fault' : undefined}>
			<th scope="row">
				<code>
					{id}-{field.number}
				</code>
			</th>
			<td class="field-name">
				{field.name ?? <span class="muted">–</span>}
				{field.datatype && <small title="datatype">{field.datatype}</small>}
				{fault && <span class="visually-hidden">, at fault</span>}
			</td>
			<td>
				{field.deletes && <em>“” deletes the value</em>}
				{!field.deletes &&
					field.repetitions.map((repetition, index) => (
						<div key={index} class="repetition">
							{repetition.components.length === 0 ? (
								<ValueText value={repetition.value} meaning={repetition.meaning} length={repetition.length} />
							) : (
								<dl>
									{repetition.components.map((component) => (
										<div
											key={component.number}
											class={fault?.component === component.number && (fault.repetition ?? 1) === index + 1 ? 'at-fault' : undefined}
										>
											<dt>
												{component.number}
												{component.name && ` ${component.name}`}
											</dt>
											<dd>
												{component.subcomponents.length === 0 ? (
													<ValueText value={component.value} meaning={component.meaning} length={component.length} />
												) : (
													component.subcomponents.map((part) => (
														<span key={part.number} class="pair">
															<span class="muted">{part.name ?? part.number}</span>{' '}
															<ValueText value={part.value} meaning={part.meaning} length={part.length} />{' '}
														</span>
													))
												)}
											</dd>
										</div>
									))}
								</dl>
							)}
						</div>
					))}
			</td>
		</tr>
	);
}

function ValueText({ value, meaning, length }: { value: string; meaning: string | null; length: number }) {
	return (
		<>
			<span class="value">{value}</span>
			{meaning && <span class="muted"> {meaning}</span>}
			{value.length < length && <small> {length} characters</small>}
		</>
	);
}
