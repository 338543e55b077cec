import { durationMs, type Expression, parseExpression } from '../expression.ts';
import type { Rule, RuleGroup } from '../rule.ts';
import { messagesRules } from './messages.ts';
import { nodesRules } from './nodes.ts';
import { requestsRules } from './requests.ts';
import { sendersRules } from './senders.ts';

/**
 * Every alert. `npm run generate:alerts` writes ops/prometheus/rules.yml and the chapter of docs/operations.md from this table; a node judges
 * by the same rows what the console shows and whom it tells.
 */
export const ruleGroups: readonly RuleGroup[] = [nodesRules, messagesRules, sendersRules, requestsRules];

/** An alert that a node judges itself. */
export interface AlertRule extends Pick<Rule, 'name' | 'severity' | 'summary' | 'words' | 'runbook' | 'list'> {
	forMs: number;
	expression: Expression;
}

/** Rules that only Prometheus can judge are left out. */
export const alertRules: readonly AlertRule[] = ruleGroups
	.flatMap(({ rules }) => rules)
	.filter(({ beyondNode }) => beyondNode !== true)
	.map(({ for: duration, text, ...rule }) => ({ ...rule, forMs: durationMs(duration), expression: parseExpression(text) }));

export const alertNames = alertRules.map(({ name }) => name);

/** Says what to do, by the name of the alert. */
export const runbooks: ReadonlyMap<string, string> = new Map(alertRules.map(({ name, runbook }) => [name, runbook]));
