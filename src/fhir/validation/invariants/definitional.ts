import type { Json, JsonObject } from '#core/json.ts';
import { asObjects, asText } from '../../elements.ts';
import { areDistinct, eitherOr, has, type Invariant, invariant, items, needs, notBoth, oneOf } from './invariant.ts';

const isOneOf = (value: Json | undefined, ...codes: string[]): boolean => typeof value === 'string' && codes.includes(value);

/** Only for items of some types. */
const onlyFor = (key: string, words: string, holds: (type: Json | undefined) => boolean, ...names: string[]): Invariant =>
	invariant(key, words, (item) => holds(item['type']) || !names.some((name) => has(item, name)), 'type');

/** Where `name` is `value`, another element is there. */
const needsWhere = (key: string, words: string, name: string, value: string, needed: string): Invariant =>
	invariant(key, words, (element) => element[name] !== value || has(element, needed), needed);

function linkIdsOf(item: JsonObject): string[] {
	return [...[asText(item['linkId'])].filter((text) => text !== undefined), ...asObjects(item['item']).flatMap(linkIdsOf)];
}

const isDisplay = (type: Json | undefined): boolean => type === 'display';
const isQuestion = (type: Json | undefined): boolean => type !== 'group' && !isDisplay(type);

const questionnaireItem: readonly Invariant[] = [
	invariant(
		'que-1',
		'A group has items, and a display has none',
		(item) => (item['type'] !== 'group' || has(item, 'item')) && (!isDisplay(item['type']) || !has(item, 'item')),
		'item',
	),
	onlyFor('que-3', 'A display has no code', (type) => !isDisplay(type), 'code'),
	notBoth('que-4', 'An item has answerOption or answerValueSet, not both', 'answerOption', 'answerValueSet'),
	onlyFor(
		'que-5',
		'Items of this type have no answerOption and no answerValueSet',
		(type) => isOneOf(type, 'choice', 'open-choice', 'decimal', 'integer', 'date', 'dateTime', 'time', 'string', 'quantity'),
		...['answerOption', 'answerValueSet'],
	),
	onlyFor('que-6', 'A display is neither required nor repeated', (type) => !isDisplay(type), 'required', 'repeats'),
	onlyFor('que-8', 'A group and a display have no initial value', isQuestion, 'initial'),
	onlyFor('que-9', 'A display is not readOnly', (type) => !isDisplay(type), 'readOnly'),
	onlyFor(
		'que-10',
		'Items of this type have no maxLength',
		(type) => isOneOf(type, 'boolean', 'decimal', 'integer', 'string', 'text', 'url', 'open-choice'),
		'maxLength',
	),
	notBoth('que-11', 'An item with answerOption has no initial value', 'answerOption', 'initial'),
	invariant(
		'que-12',
		'More than two enableWhen come with enableBehavior',
		(item) => items(item['enableWhen']).length <= 2 || has(item, 'enableBehavior'),
		'enableBehavior',
	),
	invariant(
		'que-13',
		'Only a repeated item has several initial values',
		(item) => item['repeats'] === true || items(item['initial']).length <= 1,
		'initial',
	),
];

/** Questionnaires, terminology and other definitions. */
export const definitionalInvariants: Readonly<Record<string, readonly Invariant[]>> = {
	'ConceptMap.group.element.target': [
		invariant(
			'cmd-1',
			'A target that is narrower or inexact has a comment',
			(it) => has(it, 'comment') || !isOneOf(it['equivalence'], 'narrower', 'inexact'),
			'comment',
		),
	],
	'ConceptMap.group.unmapped': [
		needsWhere('cmd-2', 'The mode fixed comes with a code', 'mode', 'fixed', 'code'),
		needsWhere('cmd-3', 'The mode other-map comes with a url', 'mode', 'other-map', 'url'),
	],
	'MessageDefinition.focus': [
		invariant('md-1', 'max is * or a number greater than 0', ({ max }) => max === undefined || max === '*' || Number(max) > 0, 'max'),
	],
	NamingSystem: [
		invariant(
			'nsd-1',
			'A root has no UUID',
			({ kind, uniqueId }) => kind !== 'root' || asObjects(uniqueId).every(({ type }) => type !== 'uuid'),
			'uniqueId',
		),
		invariant(
			'nsd-2',
			'One identifier of each type is preferred',
			({ uniqueId }) =>
				areDistinct(
					asObjects(uniqueId)
						.filter(({ preferred }) => preferred === true)
						.map(({ type }) => String(type)),
				),
			'uniqueId',
		),
	],
	'OperationDefinition.parameter': [
		oneOf('opd-1', 'A parameter has a type or parts', 'type', 'part'),
		invariant('opd-2', 'Only a string has a searchType', (it) => !has(it, 'searchType') || it['type'] === 'string', 'searchType'),
		invariant(
			'opd-3',
			'Only a Reference or canonical has a targetProfile',
			(it) => !has(it, 'targetProfile') || isOneOf(it['type'], 'Reference', 'canonical'),
			'targetProfile',
		),
	],
	Questionnaire: [invariant('que-2', 'No two items have the same linkId', (it) => areDistinct(linkIdsOf(it)), 'item')],
	'Questionnaire.item': questionnaireItem,
	'Questionnaire.item.enableWhen': [
		invariant(
			'que-7',
			'The operator exists has an answerBoolean',
			(it) => it['operator'] !== 'exists' || has(it, 'answerBoolean'),
			'answerBoolean',
		),
	],
	SearchParameter: [
		needs('spd-1', 'An xpath comes with xpathUsage', 'xpath', 'xpathUsage'),
		invariant('spd-2', 'Only a reference is chained', (it) => !has(it, 'chain') || it['type'] === 'reference', 'chain'),
	],
	StructureDefinition: [
		invariant('sdf-4', 'Only an abstract structure has no baseDefinition', (it) => it['abstract'] === true || has(it, 'baseDefinition')),
		oneOf('sdf-6', 'A snapshot or a differential is given', 'snapshot', 'differential'),
	],
	'StructureDefinition.mapping': [oneOf('sdf-2', 'A mapping has a name or a uri', 'name', 'uri')],
	'StructureMap.group.rule.target': [
		needs('smp-1', 'An element comes with a context', 'element', 'context'),
		needs('smp-2', 'A context comes with a contextType', 'context', 'contextType'),
	],
	TerminologyCapabilities: [
		oneOf('tcp-2', 'description, software or implementation is given', 'description', 'software', 'implementation'),
		needsWhere('tcp-3', 'An instance has an implementation', 'kind', 'instance', 'implementation'),
		invariant(
			'tcp-4',
			'A capability has software and no implementation',
			(it) => it['kind'] !== 'capability' || (has(it, 'software') && !has(it, 'implementation')),
		),
		invariant(
			'tcp-5',
			'Requirements have neither software nor implementation',
			(it) => it['kind'] !== 'requirements' || (!has(it, 'software') && !has(it, 'implementation')),
		),
	],
	'TerminologyCapabilities.codeSystem': [
		invariant(
			'tcp-1',
			'Each of several versions has a code',
			({ version }) => items(version).length <= 1 || asObjects(version).every((item) => has(item, 'code')),
			'version',
		),
	],
	'TestScript.setup.action': [eitherOr('tst-1', 'An action has an operation or an assert, not both', 'operation', 'assert')],
	'TestScript.test.action': [eitherOr('tst-2', 'An action has an operation or an assert, not both', 'operation', 'assert')],
	'ValueSet.compose.include': [
		oneOf('vsd-1', 'A value set or a system is named', 'valueSet', 'system'),
		invariant(
			'vsd-2',
			'Concepts and filters come with a system',
			(it) => has(it, 'system') || !(has(it, 'concept') || has(it, 'filter')),
			'system',
		),
		notBoth('vsd-3', 'Concepts or filters are given, not both', 'concept', 'filter'),
	],
	'ValueSet.expansion.contains': [
		oneOf('vsd-6', 'A code or a display is given', 'code', 'display'),
		invariant('vsd-9', 'Only an abstract entry has no code', (it) => has(it, 'code') || it['abstract'] === true, 'code'),
		needs('vsd-10', 'A code comes with its system', 'code', 'system'),
	],
};
