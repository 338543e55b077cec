import type { z } from 'zod';
import type { ClientRecord } from '#administration/clients.ts';
import type { contentSearch, searchContentInput } from '#administration/content-search.ts';
import type { histogram, messageHistogramInput } from '#administration/histograms.ts';
import type { messageComparison, messageContent, resendInput, resentMessage } from '#administration/message-edit.ts';
import type { messageReading, messageRecord, replayRecord, searchMessagesInput } from '#administration/messages.ts';
import type { appliedRemedy, applyRemedyInput } from '#administration/remedies/apply.ts';
import type { messageExplanation, remedyRecord } from '#administration/remedies/explain.ts';
import type { previewRemedyInput, remedyPreview } from '#administration/remedies/preview.ts';
import type { setAsideCauseInput, setAsideInput, setAsideResult } from '#administration/set-aside.ts';
import { call } from '../../api.ts';

export type MessageRecord = z.output<typeof messageRecord>;
export type MessageReading = z.output<typeof messageReading>;

export const searchMessages = call<z.input<typeof searchMessagesInput>, MessageRecord[]>('POST', '/messages/search');
export const readMessage = call<{ id: string }, MessageReading>('GET', '/messages/{id}/reading');
export const replayMessage = call<{ id: string; accept_older?: boolean }, z.output<typeof replayRecord>>('POST', '/messages/{id}/replay');

export const listClients = call<{ site?: string | undefined }, ClientRecord[]>('GET', '/clients');

export type Explanation = z.output<typeof messageExplanation>;
export type Remedy = z.output<typeof remedyRecord>;
export type RemedyPreview = z.output<typeof remedyPreview>;
export type MessageContent = z.output<typeof messageContent>;

export const explainMessage = call<{ id: string }, Explanation>('GET', '/messages/{id}/explanation');
export const previewRemedy = call<z.input<typeof previewRemedyInput>, RemedyPreview>('POST', '/messages/{id}/remedy/preview');
export const applyRemedy = call<z.input<typeof applyRemedyInput>, z.output<typeof appliedRemedy>>('POST', '/messages/{id}/remedy');
export const setMessageAside = call<z.input<typeof setAsideInput>, z.output<typeof setAsideResult>>('POST', '/messages/{id}/set-aside');
export const setCauseAside = call<z.input<typeof setAsideCauseInput>, z.output<typeof setAsideResult>>('POST', '/failures/set-aside');
export const takeMessageUp = call<{ id: string }, z.output<typeof setAsideResult>>('POST', '/messages/{id}/take-up');
export const showContent = call<{ id: string }, MessageContent>('GET', '/messages/{id}/content');
export const resendMessage = call<z.input<typeof resendInput>, z.output<typeof resentMessage>>('POST', '/messages/{id}/resend');
export const compareMessage = call<{ id: string }, z.output<typeof messageComparison>>('GET', '/messages/{id}/comparison');
export const countMessages = call<z.input<typeof messageHistogramInput>, z.output<typeof histogram>>('POST', '/messages/histogram');
export type ContentSearch = z.output<typeof contentSearch>;
export const searchContent = call<z.input<typeof searchContentInput>, ContentSearch>('POST', '/messages/search-content');
