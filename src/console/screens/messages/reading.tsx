import type { FieldReading, Reading, SegmentReading } from '#administration/reading/reading.ts';

/** Shows a message by segments and fields, or as indented text. */
export function ReadingView({ reading, label }: { reading: Reading; label: string }) {
	return (
		<div class="reading">
			{reading.format === 'hl7v2' ? (
				reading.segments.map((segment) => <SegmentView key={`${segment.id}-${segment.sequence}`} segment={segment} />)
			) : (
				<>
					{reading.format === 'json' && reading.head.length > 0 && <RawText label="Head of the request" text={reading.head.join('\n')} />}
					<RawText label={label} text={reading.text === '' ? 'No content.' : reading.text} />
				</>
			)}
			{reading.is_cut && <p class="note warning">Only the beginning of the message is shown.</p>}
		</div>
	);
}

/** The text as received. A scrolling region must be reachable by keyboard (WCAG 2.1.1). */
export function RawText({ label, text }: { label: string; text: string }) {
	return (
		<section aria-label={label}>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
			<pre class="raw" tabIndex={0}>
				{text}
			</pre>
		</section>
	);
}

function SegmentView({ segment }: { segment: SegmentReading }) {
	return (
		<details class="segment" open={segment.fields.length > 0}>
			<summary>
				<code>{segment.id}</code>
				<span>{segment.name ?? 'not a segment of the standard'}</span>
				{segment.sequence > 1 && <span class="muted">no. {segment.sequence}</span>}
			</summary>
			<table class="fields-table">
				<caption class="visually-hidden">
					{segment.id} {segment.name}
				</caption>
				<tbody>
					{segment.fields.map((field) => (
						<FieldView key={field.number} id={segment.id} field={field} />
					))}
				</tbody>
			</table>
		</details>
	);
}

function FieldView({ id, field }: { id: string; field: FieldReading }) {
	return (
		<tr>
			<th scope="row">
				<code>
					{id}-{field.number}
				</code>
			</th>
			<td class="field-name">
				{field.name ?? <span class="muted">–</span>}
				{field.datatype && <small title="datatype">{field.datatype}</small>}
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
										<div key={component.number}>
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
